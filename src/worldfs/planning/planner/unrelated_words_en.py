"""English words one letter from ours: real words, so no slip of the pen, and never read as one of ours."""

from __future__ import annotations

_TEXT = """
    able ample apply arrange attack bail bald bale ball balm band bandana bare bark base bash bask basket bead beak
    beam bear beard beast beat beds been beer bell bellow belt bend bent best bill bind binds bite blink blob bloc
    blocs blow blown blur board boat bold bolt bone boom boon boost boot born boss bought bow bowel boxer brace brag
    brake brat bray bread break breed brew brim brine brink brisk brow bulb bull burn buys cable cage cake calf call
    calm came camp candy cane cape card care cart case cash casket cast cat cave cell chair chest chose chosen clan
    clap class claw clay clearer cleat clock cloth cloud clove club clue coat code coin cold come cone cook cool
    cope core cork corn cost coup cove cover crab creed crick crop cross crow crowd crown cubs cue curb cure curl
    cute dean dear demon desks dice dine dire dish dive dome done door dose dove down drag draw drip droop drown
    drum duck dump each east edge eight else ends even ever evil face fact fade fail fair fake fall fame fang far
    farm fast fate fear feed feel fell fellow felt fence few file fill film fine fire firm fish five fix flag flat
    flock floors flow flue foam fold folk fond font food fool foot force ford form fort four frame free frog frost
    frown fuel full fund gable gain game gate gave gear gene ghost gift gild glue goad goal goes gold golf gone good
    grade grain grand grape graph grass grave great greed greet grid grim grin grind grope gross grout grow grown
    gulf hail hair half hall halt hang hard harm hate haul head heal heap hear heat hell help here hers hide high
    hike hill hint hire hole holy homes hood hook hope horn hose host hour house howl huge hung hunt hurt idea inch
    iron jump just keen keep kept kick kill kind king kiss knee knew knit know lace lack lady laid lake lamb lamp
    land lane last late lawn lead leaf leak lean leap lear led lens lent less lest life like lime limit line link
    lint lion list lit live loaf loan lock logo lone long loom loop lord lose loss lost loud love luck lung made
    mail main make male mall maple mark mask mass mast mate meal mean meat meet mellow melon melt menu mere mice
    mile milk mill mind mine mint mirror miss mist moan mock mode mold mole mood moon more moss moth mouse mouth
    mover much mugs must myth nail name navy neat neck need nest news night nose note noun null numb oath obey oils
    ounce oven over pace pack page paid pail pain pair pale palm pan pants park part pass past path pave peace peak
    pearl peas peck peel peer perch pest pets piano pier pies pinch pine pink pint pipe pity plan plane plank plant
    play plea pledge plot plow plug plume plump plus poem poet pole poll pool poor pork port pose post pour pray
    prep prey price prick pride prince print probe prop pull pump pure quick quit race rack rage raid rail rain rake
    ramp range rank rare rate rave read real reap rear reed reef rely rent rest rice rich rick ride ring ripe rise
    risk road roam roar robe rock role roll roof room root rope rose rough rover rude ruin rule rush rust sable sack
    safe sage sail sake salt same sand save scan scar seal seam seat seed seek seem seen self sell send sent shall
    shape share sharp shed shell shine shirt shock shoe shoot shop shore shot show shut sick side sigh sight sign
    silk sing sink site sits size skin slack slap slate slave sleep slip slit sliver slot slow slum smack small
    smell smile snack snap snatch snick snow soap soft soil sold sole some song soon sore sort soul soup sour spare
    spark spear speed spell spin spook spool spot stable staff stage stair stake stalk stamp star stare stark start
    state stay steam steel stem step stern stick stiff still stir stitch stock stone stool store storm story stove
    straw stray strip stuck such suit swap sway swim swing sword tabled tablet tack tail tale talk tall tame tang
    tank tape tart task teach team tear tell tend tent term test text thank that thaw thick thief thing think thorn
    throw thumb tick tide tight tile till time tiny tire toad toil told toll tone took tools tour town trace track
    trade trail train tram trap tree trek trial trick trim trip trot truck true trust tube tuck tune turn twin type
    unit vase vast very vest view vile voice vote wade wage wait wake walk wall want ward warm warn wash watch water
    weak wear week weight well went wept were west wheel whine whip white wick wide wife wild will wind wine wing
    wink wipe wire wise wish wolf wood wool work worm worn wrap wring yard yarn yawn year yell yolk zone
"""
OTHERS = frozenset(_TEXT.split())
