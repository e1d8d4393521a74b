"""English words one letter from ours: real words, so no slip of the pen, and never read as one of ours."""

from __future__ import annotations

_TEXT = """
    able abode acre aire ample angel angle apply area arne arrange arse arum atom attack awry axel axle baal babs bach
    bagel bail bala bald bale bali balk ball balm balu band bandana bank barb bare barely bari baring bark barley barn
    barring bart base bash bask basket bass basset bath bating bats batter batting battle bawl beach bead beading beak
    beam bear beard beast beat beats beck beds bedside been beer beets bell bellow below belt bend bent best beth bets
    betts bias bill bind binds bing binh bint bios bite biter bitter blank blink blob bloc blocs blot blow blown blur
    boar board boast boat boats bock boding boil bold boll bolt bone bonk bonny bony boob boof bool boom boon boost boot
    booth boots boring born bosh boss botch bots bott bought bow bowel bowels bowl boxer brace brack brag brake bran
    brat brawn bray bread break breck breed brew brig brim brine brink brisk broad brock brook broth brow brunt buck
    buffet buffett bugle bulb bulge bull buns burn burnt buys cable cage cain cake calf call calm came camp candy cane
    caner canes canis canner cannes cannon canon canton canvas canvass cape caper carat carb carbon carbs card care
    caret caring carry cart carta carter cartoon carve carving cary case cash casket cass cast casual cat causal cave
    caxton cell chair changer charge charmer charter chat cheat cheer cher chess chest chet chose chosen clam clan clap
    claps clasp class claw clay clearer cleat clock clone closest closet closets clot cloth clothe cloud clove club clue
    coach coal coast coat coats code coin coke cola cold collet colon colt coma combs come comma compiled complaint
    compliant complied conch cone conor cook cooke cool coombs coop cooper cope cops coral core cork corn corral cost
    cots cough coup court cove cover cpus crab crabs crag crater crave craving cray creed creep crepe crest crick crop
    cross crouch crow crowd crown crud cuba cubs cue cups curb curd cure cures curl curry curse cusp cuss cute cuter
    cutter cyan dairy dash dave dawn dean dear deck demon derive desert desi desks dessert deus diary dice dick dine
    diner dining dinner dinning dire disc discreet discrete discus discuss dish disk dive dogs dome domed done donor
    doom doomed door dork dorn dose dour dove dover down drab drag drago dragon dragoon dram draper draw dray drip
    drivel droop drove drown drug drum duck dues dump dusk each east edge eight eighth else emery ends enid etch even
    ever evert evil excerpt exist exits face fact fade fail fair fake fall fame fang far fare farm farming faro fast
    fate fats fear feast feats feed feel fell fellow felt fence fend few fiber fibre fide fiend fife file filer files
    filing fill filler filling film fine fined fink finn fire fired firm fish fist fitch fits five fix flag flat fletch
    flies flock flood floors flour flow flue foam fold folk folks fond font food fool foot fora force ford fore forest
    form forrest fort forth foul four frag fram frame framing fray free fried fringe frog frost froth frown fuel full
    fund furry fury gable gain gall game gape gaps garb garnet garnett gary gasp gate gave gear gene ghost gift gild
    gilt glue goad goal goes gold golf gone good gove grab grad grade graf grain gram grand grape graph grass grave
    gravy great greed greek greet greg grew grid grim grin grind gripe gris grit groove grooves grope gross grout grove
    groves grow grown grub gulf gust guts hail hair hake half hall hallway halt halve hang hank hard hare harm hate
    hater hatter haul havel haze head heal heald heap hear heard heat heavies helio hell help heme herd here hers hide
    high hike hill hind hint hire hive hoes hole holey holl holly holm holo holy homes homo hood hoof hook hoop hoops
    hoot hoover hope hoping hopper hopping hops horn hose host hour house hove hovel howe howl huge hume hung hunt hurt
    idea inca inch insect intro iron itch iter jest jets jive jump just keen keep kept kick kill kind king kink kino
    kiss knee knew knit know lace lack lacy lady lager laid lake lamb lamp land lane last late later latter lawn lazy
    leach lead leaf leak lean leap lear led leman lens lent leon less lest leto lets lett lido lied lien life like lime
    limit lind line liner link lint lion lions lips lisa lise lisp liss list lit liter litter live loaf loam loan locale
    lock loft logo loins lone long loom loop loos loosing loot lord lose loser losing loss lost loud love lover loyd
    luck lung lust made mail main make male mall mantel mantle maple marital mark martial mary mask mass mast mate mated
    mater mats matte matted matter maya mayo meal mean meat meddle meet mellow melon melt menu mere meta mete meteor
    mice midday mile milk mill mind mine mint mirror miss mist miter mitre moan mock mode mold mole mono mood moon moor
    moot moped mopped more moro mose moss mote moth moto mouse mousse mouth mover movie much muddle mugs mung muss must
    myth nail name nave navy neal neat neck need needles needless nest nets nett news newt night nike nile nina niue
    nobel noble noose nose note noun nude null numb oast oath oats obey octo oils omen omer onus orang organism organist
    otter otto ounce oust outs oven over overt owen oxen paas pace pack page paid pail pain pair pais palace palate pale
    pall palm pan pants park part pass passe past pasty pate path patsy pave peace peak peal pearl peas peat peck peel
    peep peer pele pell pepe perch perfect pers pest petr pets piano pica picket pickett pico pier pies pike pilate pina
    pinch pine pined ping pining pink pinned pinning pino pint pinus pipe pish piss pity plan plane planed planer
    planing plank planner planning plant plat platt play plea pledge plop plot plow ploy plug plumb plume plump plus
    plush poach poem poet pole poll polly polo poly pomp pool poop poor pope pork port pose poses posh positron poss
    posse post pots potts pour pout pray preach prefect prep pres press prey price prick pride prince print probe prop
    puck pugh pull pulp pump punk punt pure puree puss putt quick quit race rack raga rage raged ragged raid rail rain
    rais rake ramp rang range rank rare rate rave reach read real reap rear rede redo reed reef reefs rees refs refuge
    refugee reid reis rely remote rend rent reps rest reverb revere reverie rice rich rick ride rind ring ripe riper
    ripper rise risk rive road roam roar robbed robe robed robin rock role rolf roll rollo roof room roost rooster root
    roots rope rose roster rough rover rude ruin rule rush rust sable sack sacred safe sage sail sake saliva salon
    saloon salt salted salts salvia same sand sang sash satin save sawn scan scar scared scarred score scraper scrapper
    scrum scuff seal seam sear seat sect seed seek seem seen seer self sell selves semen send sent sept seth sext shack
    shaft shale shall shape share sharp shat shave shawl sheaf shed sheen sheer shell shelve shen sher shill shine shirt
    shock shoe shone shoot shoots shop shore short shot shots shout shovel show shrub shtick shun shunt shut sick side
    sidi sift sigh sight sign signer silk silt sind sine sing singer sink sire site sits size skin slack slade slap
    slash slat slate slated slats slave sleep slice slick slime slip slit sliver sloop slop slot slow slum slut smack
    small smash smell smile smoother smother smut snack snag snap snatch snick snide snore snort snow snuff snug soap
    soar soda sofi sofia soft soil soils sola solas sold sole solis solver soma some song soon soot sora sore sort soto
    soul soup sour soya spade spake spare spares sparing spark sparring sparse spate spear sped speed spell spice spilt
    spin split spoof spook spool spore sport spot stable staff stage stain stair stake stalk stall stamp stang stank
    star starch stare stared staring stark starred starring start state stay steam steel steep stem step stern steven
    stew stick stiff still stink stir stitch stock stoke stole stone stool stoop stop store stork storm story stove
    strand straw stray strip striped stripped stuck such suet suit sung super supper swan swann swap sway swift swim
    swing sword swore tabled tablet tack tail tain tale tales talk tall tame tang tank tape taped taper taping tapped
    tapper tapping tare tarn tarp tart task tate teach teal team tear teat tele tell tenant tend tennant tent term tern
    test text thai thais thank that thaw theater theatre theme thick thief thin thine thing think thirsty thong thorn
    threw throw thumb thus tick tide tien tight tile till tilted time tina tine tink tinny tino tint tiny tire tired
    titled toad toby toil toke told toll tone tonne tony took tools toot topo torn tort tory toss toto tour town trace
    track tracy trade trail trails train tram tran trans trap traps treaties treatise tree trek trial trials trick tried
    trim trip trot troy truck true trust tuan tube tuber tuck tune turd turf turk turn twat twin tying type unit unite
    united untie untied vail vase vast veal vela very vest vets vial view vila vile viola violent vive voice voila vote
    wack wade wader wage wait waive wake wald wale wali walk wall wane want ward warm warn warp wary wash watch water
    weak wear week weight well went wept were west wham wheat wheel whereas whim whine whip white whoa whoo whore wick
    wide width wife wild will wind wine wing wink wipe wire wise wish witch wolf wood wool work worm worn wove wrap wray
    wring write xray yard yarn yawn year yell yolk youd zone
"""
OTHERS = frozenset(_TEXT.split())
