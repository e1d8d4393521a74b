"""English nouns of the generated scenes: compounds by their head, plain things, containers, words that mislead."""

from __future__ import annotations

from typing import Final

COMPOUNDS: Final = {  # head: what can be written before it
    "opener": "can, bottle, jar, letter, paint can, wine bottle",
    "holder": "cup, candle, card, pen, phone, test tube",
    "cutter": "box, pizza, pipe, cookie, glass, wire",
    "block": "knife, sanding, engine, letter",
    "peeler": "apple, potato, carrot, orange",
    "brush": "hair, paint, shoe, bottle, dish, clothes",
    "box": "lunch, tool, tea, shoe, ring, music",
    "lid": "pot, jar, pan, teapot, cup",
    "rack": "spice, wine, shoe, toast, plate",
    "spoon": "soup, sugar, coffee, jam, egg",
    "knife": "butter, bread, cheese, fish, oyster",
    "fork": "cake, fish, fruit, garden",
    "cup": "coffee, egg, paper, trophy",
    "mug": "coffee, travel, beer, camping",
    "bottle": "perfume, baby, spray, soda",
    "can": "soup, paint, tuna, spray",
    "jar": "cookie, pickle, honey, candle",
    "towel": "beach, kitchen, hand, golf",
    "bag": "lunch, gift, bean, camera",
    "cleaner": "pipe, window, oven, lens",
    "mat": "door, yoga, mouse, bath",
    "case": "pencil, glasses, phone, violin",
    "clip": "paper, hair, tie, bag",
    "pin": "safety, drawing, rolling, tie",
    "chain": "key, bike, watch",
    "stand": "phone, cake, plant, book",
    "cover": "book, pillow, seat, phone",
    "strap": "watch, camera, guitar",
    "ball": "tennis, golf, stress, dog",
    "bell": "bike, dinner, cow",
    "collar": "dog, shirt, cat",
    "hook": "coat, fish, picture",
    "net": "hair, tea, butterfly",
    "pump": "bike, beer, ball",
    "lamp": "desk, bike, lava",
    "stopper": "bottle, door, bath",
    "press": "garlic, lemon, flower",
    "grinder": "coffee, pepper, spice",
    "shaker": "salt, pepper, cocktail",
    "scraper": "dough, ice, paint",
    "scoop": "flour, rice, sugar",
    "timer": "egg, kitchen, tea",
    "slicer": "egg, cheese, tomato",
    "frother": "milk, coffee",
    "juice": "apple, orange, lemon, tomato",
    "sauce": "apple, soy, tomato, fish",
    "butter": "peanut, almond, apple",
    "cake": "carrot, cheese, fruit",
    "soap": "dish, hand, saddle",
    "key": "house, car, piano, bike",
    "ring": "key, napkin, piston, onion",
    "cap": "bottle, lens, shower",
    "shoe": "running, tap, horse, baby",
    "glove": "oven, garden, boxing",
    "sock": "wool, golf, wind",
    "book": "recipe, picture, phone",
    "charger": "phone, camera, car",
    "screw": "wood, brass, wing",
    "plate": "name, dinner, number",
    "bowl": "dog, soup, sugar",
    "tongs": "salad, ice, sugar",
    "scissors": "kitchen, nail, paper",
    "tweezers": "stamp, eyebrow",
    "pliers": "needle nose, fishing",
    "glasses": "reading, opera",
}  # fmt: skip
CLOSED: Final = {  # what is written as one word: the words that it is not
    "pineapple": "apple",
    "cupcake": "cup",
    "teapot": "tea",
    "notebook": "note",
    "butterfly": "butter, fly",
    "eggplant": "egg, plant",
    "hotdog": "dog",
    "seahorse": "horse",
    "keyboard": "key, board",
    "starfish": "star",
    "snowball": "snow",
    "toothpick": "tooth",
    "ladybug": "lady",
    "peanut": "pea",
    "watermelon": "water",
    "horseshoe": "horse",
    "doorbell": "door",
    "corkscrew": "cork",
}
PLAIN: Final = (
    "apple, orange, lemon, tomato, potato, carrot, can, cup, knife, bottle, jar, box, shoe, egg, candle, key, book, "
    "phone, watch, sponge, spoon, fork, pencil, pen, stapler, eraser, marble, hammer, wrench, battery, glove, sock, "
    "brick, doll, comb, razor, wallet, whistle, thimble, button, coin, bolt, magnet, camera, mug, brush, clip, ball, "
    "card, plate, towel, bag, lid, lamp, bell, hook, violin, guitar, piston, onion, cookie, napkin, shirt, pillow, "
    "tie, letter, dice, scissors, tweezers, glasses, pliers, tongs"
)  # fmt: skip
GRAMMAR: Final = {  # names with words in them that sentences are made of: head: words before it
    "sign": "do not disturb, no parking, one way, for sale, wet floor, stop, exit only, everything must go",
    "sticker": "this way up, please handle with care, not for sale, made in italy",
    "shaker": "salt and pepper",
    "button": "stop, on and off, emergency stop, go back",
    "bagel": "everything, all seasons",
    "cleaner": "all purpose, all in one",
    "tape": "double sided, two sided, clear, hand over",
    "list": "to do, who is who, wait",
    "switch": "on off, two way, all off",
    "cloth": "drop, place under, dry then wet",
    "pin": "push, pull, drop",
    "toy": "stack and roll, jack in the box, pick up sticks, wave",
    "watch": "stop, day and night",
    "dripper": "pour over",
    "card": "get well soon, thank you, both sides, out of office",
    "tag": "left luggage, not in use, next to last",
    "hammer": "pick, put in",
    "mitt": "put and take",
    "mat": "put down",
    "puzzle": "what is where, how many",
    "mug": "world's best, over and out, mine not yours",
}
SIDES: Final = "left, right, front, rear, top, bottom, upper, lower, inner, outer, middle, side, corner"
SIDED: Final = "shoe, glove, boot, wheel, handle, hinge, speaker, bracket, pedal, sleeve, earbud, lens, cushion"
SIZES: Final = "small, large, big, mini, tiny, long, short, half size"
SIZED: Final = "spoon, screwdriver, brush, candle, dumbbell, gear, bolt, clamp, marble, sponge"
NUMBERED: Final = "key, ball, dice, token, badge, gear, box, cable, weight, battery"
SIGNED: Final = {"book": "C++, C, C#", "mug": "A+, A, B", "notebook": "F#, F, C++"}  # signs that tell names apart
OWNERS: Final = "chef, guest, neighbour, doctor, captain"
NUMBER_BEFORE: Final = (
    "9 volt battery, 2 euro coin, 4 way plug, 5 pin plug, 3 hole punch, 10 sided dice, two tone pen, "
    "7 iron, half inch wrench, first aid kit, second hand watch"
)
COLOURED: Final = (  # the colour word tells the kind, not the colour
    "orange juice, green tea, black tea, brown sugar, red pepper, white wine, blue cheese, yellow pages, "
    "silver polish, gold paint, pink salt, red wine, green onion"
)
TINTED: Final = ("glass", "cup", "mug", "bowl", "box", "stand")  # after a colour and a noun: "white wine glass"
CONTENTS: Final = {  # a container that can stand for what is in it
    "milk": "carton, bottle, jug",
    "rice": "packet, box",
    "juice": "carton, bottle",
    "sugar": "packet, tin",
    "cereal": "box",
    "honey": "jar",
    "soup": "can",
    "tuna": "can, tin",
    "jam": "jar",
    "toothpaste": "tube",
    "flour": "packet",
    "coffee": "tin, packet",
}
MATERIALS: Final = "steel, wooden, plastic, copper, bamboo, rubber, ceramic, spare, old, travel, folding, cordless"
GROUPS: Final = "tool, toy, gadget, utensil, snack, supply, fruit"  # words for many kinds
SHADES: Final = "turquoise, clear, navy, maroon, cream, copper, khaki, lilac, terracotta, transparent"  # on no list
COLOURS: Final = "red, blue, green, yellow, white, black"
PLACES: Final = {  # head of a container that stands on the table: words before it
    "basket": "bread, laundry, fruit, picnic, sewing, left, right, small, wire, blue, bicycle",
    "tray": "tea, seed, baking, in, out, catch all, upper, tool, ice, letter, all day",
    "bin": "bread, recycling, toy, compost, left over, lost and found, parts, red, do not use",
    "crate": "milk, bottle, apple, toy, wooden, number 2, first aid, back up",
}
PLURALS: Final = {
    "knife": "knives", "dice": "dice", "scissors": "scissors", "tweezers": "tweezers", "pliers": "pliers",
    "glasses": "glasses", "tongs": "tongs", "juice": "juices", "fish": "fish", "tomato": "tomatoes",
    "potato": "potatoes", "7 iron": "7 irons",
}  # fmt: skip
NEVER_ONE: Final = frozenset({"scissors", "tweezers", "pliers", "glasses", "tongs"})
"""Plural-looking singulars."""
MASS: Final = frozenset({"juice", "sauce", "butter", "soap", "tea", "sugar", "wine", "cheese", "salt", "milk", "rice",
    "honey", "soup", "tuna", "jam", "toothpaste", "flour", "coffee", "cereal", "polish", "paint"})  # fmt: skip
RELATED: Final = (  # a careful person may call one by the other's name: no sentence turns on the difference
    "cup mug glass glasses trophy", "can tin", "box case carton crate packet", "basket bin tub", "bag sack pouch",
    "towel cloth napkin", "lamp light", "mat pad", "ring band", "tray plate", "jar pot jug", "cover lid cap",
    "grinder mill", "shoe boot horseshoe", "sock stocking", "chain strap", "scraper peeler slicer cutter knife razor",
    "toy doll ball snowball", "holder stand rack", "brush cleaner", "pin clip hook", "switch button",
    "sign sticker tag card",
    "pepper onion", "book notebook list pages", "fork tongs", "hammer mallet", "pen pencil", "bell doorbell",
    "tweezers pliers", "watch timer", "juice sauce", "cake cupcake", "screw bolt corkscrew", "coin token",
    "iron", "key wrench", "stopper cap", "scoop spoon",
)  # fmt: skip
CONTAINERS: Final = (
    "can, jar, bottle, bag, box, carton, packet, tin, tube, jug, cup, mug, shaker, grinder, bowl, pot, bin, basket, "
    "crate, tray, rack, case"
)
SUBSTANCES: Final = (
    "water, beer, soda, perfume, pepper, spice, bread, fruit, spray, pickle, salad, glass, ice, compost, recycling, "
    "laundry"
)
NOT_THINGS: Final = (  # words in names that no sentence calls a thing by
    "fruit toy sewing picnic running tap sanding drawing rolling safety travel camping stress reading boxing spray "
    "beach fishing opera yoga wing brass wood garden kitchen bath needle nose name dinner number music test tool baby "
    "hand gift bean wool saddle eyebrow oven hair trophy clothes cocktail in out all catch day half no one way do "
    "not disturb parking for sale stop exit only everything must go this up please handle with care made italy "
    "and salt pepper on off emergency back seasons purpose double sided two clear over to who is place under dry "
    "then wet pull drop stack roll jack pick sticks wave get well soon thank you both sides of office use next "
    "last put what where how many world's best the other recycling compost lost found parts red blue wire first "
    "aid 2 9 4 5 3 10 garlic wait down"
)
BEFORE: Final = {  # the head comes first: what is written after it
    "mug": "with a lid, without a handle, for guests",
    "cup": "with a straw, without a saucer, from italy",
    "box": "with a window, without a lid, for shoes",
    "bag": "for life, with a zip",
    "key": "to the shed, for the car",
    "brush": "for bottles, with a long handle",
    "map": "of italy, of the kitchen",
    "picture": "of a cat, of the table",
    "bottle": "with a sponge on top, for oil",
    "card": "for the left door, to the right",
    "jar": "in a sock, without a label",
    "knife": "in a sheath",
}
OF: Final = {  # a container, or a portion, and what it is of: its name may stand for it
    "bag": "rice, marbles", "box": "matches, crayons", "cup": "tea, rice", "can": "soup, beans",
    "jar": "honey, buttons", "pack": "cards, seeds", "roll": "tape, string", "bar": "soap, chocolate", "ball": "yarn",
    "tube": "glue, paint", "pair": "socks", "set": "keys", "deck": "cards",
}  # fmt: skip
ENDINGS: Final = (  # series of what tells things of one name apart
    "AA, C, D", "L, XL, XXL", "A, AB, B", "I, II, IV", "X, XY", "one, two, three", "v3, v4", "500 ml, 1 l, 250 ml",
    "5 m, 2 m, 10 m", "large, small", "red, blue, green", "SE, 12", "M6, M8", "new, old", "No. 1, No. 2", "1b, 1",
    "light blue, dark blue, red", "small red, large blue, 2", "12, 12 pro, 12 pro max",
)  # fmt: skip
TAILS: Final = (  # after a head: a size, a brand, an owner
    "80_grit, size_4, 250_ml, 1_m, Brovex, Maren, Dr_Helm, USB-C, 12_volt, model_7, HX9"
)
HALVES: Final = (  # a modifier, and the half of it that says another thing
    "half-full|full, sugar-free|sugar, over-ripe|ripe, low-fat|fat, never-worn|worn, semi-dry|dry, off-white|white, "
    "anti-rust|rust, nut-free|nut, non-slip|slip, ultra-thin|thin, pre-owned|owned, rust-proof|rust"
)
TOLD_AFTER: Final = (  # a head, and what tells more of it
    "book about cats, book about wine, jar containing nails, sign saying stop, cup made of tin, bag full of screws, "
    "box labelled fragile, card per person, tablets against pain, photo showing dogs, mug from paris, key to the shed, "
    "lid on jar, stamp by anna, poster against war, parcel marked heavy, tin filled with tea, ball plus pump, "
    "book called dune, letter written by anna, box that says fragile, toy shaped like a dog"
)
JOINED: Final = "to, on, by"
COUNT_NAMES: Final = (
    "dozen eggs carton, hundred year clock, half dozen box, six pack, two litre jug, three minute timer"
)
COUNT_WORDS: Final = "dozen, hundred, six, two, three"
OPENINGS: Final = "bl, d, gr, k, m, pl, sn, t, v, z, br, fr"
RHYMES: Final = "icket, omber, arvin, urpol, engit, olvan, imsel, uftor, ebric, anquil, orbet, izzard"
"""Of both: words that no list knows."""
TWO_NAMES: Final = (  # two names; of the first pair only the second may be thought to be the first
    "cup mug", "can tin", "plate dish", "cloth rag", "block cube", "bag sack", "jar pot", "carton box",
)  # fmt: skip
ENDED: Final = (  # one word, and the noun that it ends in and may be called by
    "pocketknife knife", "teaspoon spoon", "cookbook book", "toothbrush brush", "teacup cup", "saucepan pan",
    "flashlight light", "sweatshirt shirt", "handbag bag", "doormat mat", "eyeglasses glasses", "keyring ring",
    "beachball ball", "tablecloth cloth", "armchair chair", "whiteboard board", "dustpan pan", "nutcracker cracker",
)  # fmt: skip
OTHER_ENDED: Final = (  # one word, and the noun that it ends in and is not
    "pineapple apple", "butterfly fly", "eggplant plant", "hotdog dog", "carpet pet", "seahorse horse", "trumpet pet",
    "horseshoe shoe", "buttercup cup", "doughnut nut", "corkscrew screw", "dumbbell bell",
)  # fmt: skip
