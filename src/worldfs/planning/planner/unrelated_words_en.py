"""English words one letter from ours: real words, so no slip of the pen, and never read as one of ours."""

from __future__ import annotations

_TEXT = """
    able abode acre aire ample apply area arne arrange arse arum atom attack awry baal babs bach bail bala bald bale
    bali balk ball balm balu band bandana bank barb bare bari bark bart base bash bask basket bass basset bath bats
    battle bawl beach bead beak beam bear beard beast beat beck beds bedside been beer bell bellow belt bend bent best
    beth bias bill bind binds bing binh bint bios bite blank blink blob bloc blocs blow blown blur boar board boat bock
    boil bold boll bolt bone bonk boob boof bool boom boon boost boot booth boots boring born bosh boss botch bots bott
    bought bow bowel bowels boxer brace brack brag brake brat brawn bray bread break breck breed brew brig brim brine
    brink brisk brock brook broth brow buck bulb bull buns burn buys cable cage cain cake calf call calm came camp candy
    cane canis canton cape carbon card care cart cartoon cary case cash casket cass cast cat cave caxton cell chair
    changer charge charmer charter chat cheat chess chest chet chose chosen clan clap class claw clay clearer cleat
    clock clone closet clot cloth clothe cloud clove club clue coach coat code coin cold collet colon come conch cone
    conor cook cool cope cops core cork corn cost cough coup court cove cover crab crag cray creed crest crick crop
    cross crouch crow crowd crown cuba cubs cue curb cure curl curry cusp cuss cute cyan dash dave dawn dean dear deck
    demon derive desi desks dice dick dine dire disc dish disk dive dogs dome done donor doom door dork dorn dose dour
    dove dover down drab drag drago dram draper draw dray drip drivel droop drove drown drug drum duck dump dusk each
    east edge eight eighth else emery ends enid etch even ever evert evil excerpt face fact fade fail fair fake fall
    fame fang far fare farm faro fast fate fear feed feel fell fellow felt fence fend few fide fiend fife file fill film
    fine fined fink finn fire firm fish fitch five fix flag flat fletch flock flood floors flour flow flue foam fold
    folk folks fond font food fool foot fora force ford fore form fort foul four frag fram frame fray free fringe frog
    frost frown fuel full fund gable gain gall game gape garb gary gasp gate gave gear gene ghost gift gild glue goad
    goal goes gold golf gone good gove grad grade graf grain gram grand grape graph grass grave gravy great greed greek
    greet greg grew grid grim grin grind gripe gris grit grope gross grout grow grown grub gulf hail hair hake half hall
    hallway halt halve hang hank hard hare harm hate haul havel haze head heal heald heap hear heard heat heavies helio
    hell help heme herd here hers hide high hike hill hind hint hire hive hole holl holm holo holy homes homo hood hook
    hoover hope horn hose host hour house hove hovel howe howl huge hume hung hunt hurt idea inca inch insect intro iron
    itch iter jive jump just keen keep kept kick kill kind king kink kino kiss knee knew knit know lace lack lacy lady
    laid lake lamb lamp land lane last late lawn lazy leach lead leaf leak lean leap lear led leman lens lent leon less
    lest leto lett lido lied life like lime limit lind line link lint lion lisa lise lisp liss list lit live loaf loam
    loan locale lock loft logo lone long loom loop loos loot lord lose loser loss lost loud love lover loyd luck lung
    lust made mail main make male mall maple mark mary mask mass mast mate maya mayo meal mean meat meddle meet mellow
    melon melt menu mere mete meteor mice midday mile milk mill mind mine mint mirror miss mist miter mitre moan mock
    mode mold mole mood moon more mose moss mote moth mouse mouth mover movie much muddle mugs mung muss must myth nail
    name nave navy neal neat neck need nest nett news newt night nike nile nina niue nose note noun nude null numb oath
    obey octo oils omen omer onus orang organism organist otter otto ounce oust oven over overt owen oxen paas pace pack
    page paid pail pain pair pais palace palate pale pall palm pan pants park part pass passe past pate path pave peace
    peak peal pearl peas peat peck peel peer pele pell perch pers pest petr pets piano pica pico pier pies pike pilate
    pina pinch pine ping pink pino pint pinus pipe pish piss pity plan plane plank plant plat platt play plea pledge
    plop plot plow plug plumb plume plump plus plush poach poem poet pole poll pomp pool poop poor pope pork port pose
    posh positron poss post pour pout pray preach prep prey price prick pride prince print probe prop puck pugh pull
    pulp pump punk punt pure puss putt quick quit race rack raga rage raid rail rain rais rake ramp rang range rank rare
    rate rave reach read real reap rear rede redo reed reef rees reid reis rely remote rend rent reps rest reverb revere
    reverie rice rich rick ride rind ring ripe rise risk rive road roam roar robe rock role rolf roll rollo roof room
    root rope rose rough rover rude ruin rule rush rust sable sack safe sage sail sake salt same sand sash save scan
    scar score scrum scuff seal seam sear seat sect seed seek seem seen self sell selves semen send sent sept seth sext
    shack shaft shale shall shape share sharp shat shave shawl sheaf shed shell shelve shill shine shirt shock shoe
    shone shoot shop shore short shot shout shovel show shrub shtick shun shunt shut sick side sidi sift sigh sight sign
    silk sind sine sing sink sire site sits size skin slack slade slap slash slate slave sleep slice slick slime slip
    slit sliver slot slow slum slut smack small smash smell smile smut snack snap snatch snick snide snore snort snow
    snuff soap soda sofi sofia soft soil sola solas sold sole solver soma some song soon sora sore sort soul soup sour
    soya spade spake spare spark spate spear speed spell spice spin spoof spook spool spore sport spot stable staff
    stage stair stake stalk stall stamp stang stank star starch stare stark start state stay steam steel stem step stern
    steven stew stick stiff still stink stir stitch stock stoke stole stone stool store stork storm story stove strand
    straw stray strip stuck such suet suit swap sway swift swim swing sword swore tabled tablet tack tail tain tale
    tales talk tall tame tang tank tape tare tarn tart task tate teach teal team tear teat tele tell tend tent term tern
    test text thai thais thank that thaw theme thick thief thin thine thing think thirsty thong thorn threw throw thumb
    thus tick tide tien tight tile till time tina tine tink tino tint tiny tire toad toby toil toke told toll tone tony
    took tools topo torn tory toss tour town trace track tracy trade trail train tram tran trans trap traps tree trek
    trial trick trim trip trot troy truck true trust tuan tube tuck tune turd turf turk turn twat twin tying type unit
    vase vast very vest view vile violent vive voice vote wack wade wage wait waive wake wald wale wali walk wall wane
    want ward warm warn wash watch water weak wear week weight well went wept were west wham wheat wheel whereas whim
    whine whip white whoa whoo whore wick wide width wife wild will wind wine wing wink wipe wire wise wish witch wolf
    wood wool work worm worn wove wrap wray wring write xray yard yarn yawn year yell yolk youd zone
"""
OTHERS = frozenset(_TEXT.split())
