"""Words that can open an imperative: base forms of verbs, and those among them that are as often nouns.

Law: the tables hold base forms only. They are evidence, not the decision: `imperatives` also accepts verbs that are
not listed here, by their shape and by the words after them.
"""

from __future__ import annotations

VERBS = frozenset(
    """
    abandon abbreviate abide abolish abort abridge absorb abstain abstract accede accelerate accent accentuate
    accept acclimatise accommodate accompany accomplish accrue accumulate accuse ace achieve acknowledge acquaint
    acquire act activate adapt add adhere adjust administer admire admit admonish adopt advance advertise advise
    advocate affirm afford aggregate agonise agree aid aim air alert align aliquot allocate allow alphabetise
    alphabetize alter alternate amend amortise amortize amplify amuse analyse analyze anchor animate annotate
    announce annoy anonymise anonymize answer antialias anticipate apologise apologize appear append applaud apply
    appoint appraise appreciate apprise approach approve approximate arbitrate archive argue arise arm arrange
    arrive articulate ascertain ask aspirate assemble assert assess assign assist assuage assume assure attach
    attain attempt attend attest attract attribute audit augment authenticate author authorise authorize autoformat
    autogenerate automate avert avoid avow await backfill backport backtrack bake balance ban banish banter bask
    batch bathe bear beat become befit befriend beg begin behave believe belong bench benchmark bend betray better
    beware bid bikeshed bind bisect blacklist blame blanch bleed blend bless blink block blockquote blog bloom blur
    blush boast boil bold book bookmark boost boot bootstrap borrow bother bounce bound boycott brainstorm braise
    brake branch break breathe bridge brief bring broadcast broaden browse brush bubble bucket buckle budget buffer
    build bump bundle burn burp burst bury button buy bypass cache calculate calibrate call camp cancel canonicalise
    canonicalize cap capitalise capitalize capture care carry carve cast catalog catalogue catch categorise
    categorize caulk cease celebrate center centralise centralize centre centrifuge certify challenge chaperone
    characterise characterize charge chase check checkout checkpoint cherish cherry-pick chew choke choose chop
    chunk circle circulate circumvent cite claim clamp clap clarify classify clean cleanse cleanup clear click climb
    cling clip clock clone close cluster clutter coach coalesce code codify coerce coin collaborate collapse collate
    collect collocate colocate color colour comb combine come comfort command commence commend comment comment-out
    commingle commit communicate compact compare compartmentalise compensate compete compile complain complement
    complete complicate comply componentise compose compound compress comprise compute concatenate conceal concede
    concentrate concern conclude condense conduct confess confide configure confine confirm conform confront confuse
    congratulate connect conserve consider consist consolidate constrain construct consult consume contact contain
    containerise containerize contest contextualise continue contract contrast contribute control convene converse
    convert convey convince cook cooperate coordinate copy cordon correct correlate correspond counter countersign
    craft crawl create credit creep crimp crop cross cross-check cross-link cross-reference crosscheck crosslink
    crunch crush cue cull cultivate curate curb cure curtail customise customize cut cycle dab daisy-chain dampen
    dare dash date deactivate dead-letter deal debounce debug decant decay deceive decide declare decline declutter
    decode decommission decompose decompress deconstruct decorate decouple decrease decrement decrypt dedicate
    deduce deduct dedupe deduplicate deem deepen default defend defer define deflect defragment defrost defuse
    degrease delay delegate delete delight delimit delineate delint deliver delve demand demarcate demonstrate
    demote demux demystify denoise denormalise denormalize denote deny deobfuscate depart depend depict deploy
    deprecate deprioritise deprioritize dereference derive descend describe deselect deserialise deserialize deserve
    designate desire destroy destructure desugar detach detail detect determine detokenise develop deviate devise
    diagnose dial dictate die diff differ differentiate dig digest dilute dim diminish direct disable disagree
    disallow disambiguate disappear disapprove disarm disassemble disavow discard discern disclose disconnect
    discontinue discount discourage discover discuss disentangle disguise disinfect dislodge dismiss dismount
    dispatch dispel display dispose disprove disregard disrupt dissect disseminate dissuade distil distill
    distinguish distract distribute ditch dive diversify divert divide do dock dockerise dockerize document dodge
    dogfood dot double double-check dovetail downgrade download downplay downsample downscale downvote draft drag
    drain draw dream dress drift drill drink drive drizzle drop drown dry-run dump duplicate dwell dwindle earmark
    earn ease eat echo edit educate elaborate elect elevate elicit elide eliminate embarrass embed embellish embody
    embolden embrace emerge emigrate emit empathise empathize emphasise emphasize employ empower empty emulate
    enable enact encapsulate encase encircle enclose encode encompass encourage encrypt end endeavor endeavour
    endorse endure energise enforce engage engineer enhance enjoin enjoy enlarge enlist enliven enqueue enquire
    enrich enrol enroll ensue ensure enter entertain entrust enumerate enunciate envelop envision epitomise equalise
    equate equip eradicate erase err erupt escalate escape eschew establish estimate evacuate evade evaluate evict
    evoke evolve exaggerate examine exceed excerpt exclude execute exemplify exempt exercise exfiltrate exhale
    exhaust exhibit exhort exist exit expand expect expedite expire explain explode explore export expose express
    expunge extend extinguish extol extract extrapolate exude eyeball fabricate face facilitate factor fade fail
    fake fallback familiarise familiarize fan fan-out farm fast-forward fasten favor favour feature-flag feed
    fertilise fertilize fetch field fight figure file fill film filter finalise finalize find fine-tune finish fire
    firm fish fit fix flag flatten flatter flee flesh flex fling flip float flourish flow flush fly focus fold
    follow forage forbear forbid force force-push foresee foreshadow forfeit forge forget forgive forgo fork
    formalise formalize format formulate forsake forward foster frame free freeze frighten front front-load fry fuel
    fulfil fulfill function fund further fuse fuzz gamble garnish gate gather gauge gaze generalise generalize
    generate get gitignore give glance gloss glue go golf google gossip govern grab grade graduate grant graph
    grapple grasp grease greet grep grill grin grind groan groom ground group grout grow guarantee guard guess guide
    gzip halt hand hand-craft hand-roll handcraft handle hang happen harass hard-code hard-wrap hardcode harden
    harmonise harmonize harness hash hasten haul haunt head heal hear heed help hesitate hew hide highlight hint
    hire hit hoist hold homogenise homogenize hone honor honour hook hoover hop host hotfix hover hug humanise
    humour hunt hurry hurt hustle hydrate hyphenate hypothesise identify idle ignore illuminate illustrate imagine
    imitate immerse impact impart impersonate implement implicate imply import impose impress improve improvise
    impute include incorporate increase increment incubate incur indent index indicate indulge infer inflate inform
    inhabit inhale inherit inhibit initial initialise initialize initiate inject injure inline innovate inquire
    inscribe insert insist inspect inspire install instantiate instil instill institute instruct instrument insulate
    integrate intensify interact intercept interject interleave interlink intern internalise internalize
    internationalise interpolate interpose interpret interrogate interrupt intertwine intervene interview introduce
    intuit invalidate invent inventory invert invest investigate invite invoke involve iron irrigate isolate
    italicise itemise itemize iterate jettison jitter join jot journal judge juggle julienne jump justify juxtapose
    kebab-case keep kick kill knead kneel knit knock know label lag lament land last lather laugh launch lay layer
    lazy-load lead lean leap learn leash leave lemmatise lend lengthen lessen let level leverage license lick lift
    lighten liken limit linearise linearize linger link lint lint-fix list listen live live-reload load lobby
    localise localize locate lock log look loom loop loosen lose lower lowercase lubricate lull magnify mail
    maintain make manage mandate manipulate map march marinate mark marry marshal mask massage master match
    materialise materialize mature maximise maximize measure mediate meditate meet melt memoise memoize memorise
    memorize menace mend mention mentor merge merit micromanage migrate milk mimic mince mind mine mingle minify
    minimise minimize mirror misrepresent misuse mitigate mix moan mock model moderate modernise modernize modify
    modularise modularize moisturise monetise monitor monkey-patch monkeypatch mop moralise moralize motivate mount
    mourn move muffle multicast multiplex multiply mumble muster mutate mute muzzle nag name namespace narrate
    narrow navigate negate neglect negotiate nest neutralise neutralize nod nominate normalise normalize notarise
    notch note notify nudge null nullify number nurture obey obfuscate object obscure observe obtain occupy occur
    offend offer offload offset omit onboard ooze open operate oppose opt optimise optimize orchestrate order
    organise organize orient orphan oscillate outlaw outline outperform outsource overcome overestimate overexplain
    overfit overflow overhaul overlap overload overpromise override oversee oversell overstate overthink overwrite
    owe own pace package pad paginate paint pair pamper panic paper parallelise parallelize parameterise
    parameterize parametrise parametrize paraphrase parcel pardon pare park parse partake participate partition pass
    paste patch patronise pattern pause pave pay peck peek peel peer peg penalise penalize pencil penetrate perfect
    perform perish permit permute perpetuate persist personalise personalize persuade pester pet phase phone
    photograph phrase pick pickle pigeonhole piggyback pile pilot pin ping pinpoint pipe pitch pivot pixelate place
    plan plant play plead pledge plot pluck plug plumb pluralise pluralize ply poach point poke police polish poll
    polyfill ponder pool pop populate port portray pose position possess post postpone postprocess pound pour power
    practice practise praise pray pre-compute pre-empt preach precede precompile precompute predict preempt preface
    prefer prefetch prefix preheat preload prepare prepend prepopulate preprocess prescribe present preserve preside
    press presume pretend prettify prevent preview prewarm prime print prioritise prioritize privilege probe proceed
    process proclaim procrastinate procure produce profess profile profit program progress prohibit project promote
    prompt proofread propagate propose prorate proselytise prosper protect prototype prove provide provision provoke
    proxy prune pseudonymise pseudonymize psychoanalyse publish pull pulverise pump punctuate punish purchase purge
    pursue push put qualify quantify quantise quantize quarantine quell quench query question queue quiesce quip
    quit quote race radiate raise rake randomise randomize rank ransack rasterise rasterize rate rate-limit ration
    rationalise rationalize rave raze re-export re-run reach react read readjust realise realize reap rearrange
    reason reassess reassure rebalance rebase reboot rebrand rebroadcast rebuild rebut recalibrate recall recap
    recast receive recharge recheck recite reckon reclaim recognise recognize recommend recompile recompute
    reconcile recondition reconfigure reconnect reconsider reconstruct recontextualise record recount recover
    recreate recruit rectify recurse recycle redact redeem redefine redeploy redesign redirect rediscover
    redistribute redline redo redraft reduce reel reevaluate reexamine reexport refactor refer refill refine reflect
    reflow reformat refrain reframe refresh refrigerate refund refuse refute regard regenerate register regress
    regret regulate rehash rehearse reheat rehydrate reimplement reindex reinforce reinstall reinvent reissue
    reiterate reject rekey relabel relate relax relay relearn release relegate relinquish reload relocate rely
    remain remap remaster remedy remember remind reminisce remodel remove rename render renegotiate renew rent
    reopen reorder reorganise reorganize reorient repackage repaint repair repeal repeat repel repent rephrase
    replace replay replenish replicate replug reply repopulate report reposition repost repot represent reprint
    reprocess reproduce repurpose request requeue require reread reroute rerun resample resave rescale reschedule
    rescue reseed resell resemble resend reserve reset reshape reshard reshuffle resign resist resize resolve
    resonate resort respawn respect respond rest restart restate restore restrain restrict restructure resubmit
    resume resurface resuspend resync retag retain retarget retell retest rethink rethrow retire retitle retract
    retrain retrieve retry return retype reunite reupload reuse rev revalidate revamp reveal revel revere reverse
    revert review revise revisit revoke reward rewind rewire rework rewrap rewrite rhyme rib ride ridicule ring
    rinse ripen rise risk rivet roam roast rob roleplay roll root rot rotate round round-trip roundtrip route rub
    ruin rule ruminate run rush sacrifice saddle safeguard salt salvage sample sand sandbox sanitise sanitize
    sanity-check satisfy sauté save savor savour say scaffold scale scan scare scatter schedule scold scope scorch
    score scorn scour scrape scratch scream screen scribble script scroll scrub scrutinise scrutinize sculpt seal
    sear search season secure sedate seed seek segment segregate select self-check self-host self-review sell send
    sense separate sequence sequester serialise serialize serve server-render set settle sew shade shadow shake
    shame shape shard share sharpen shave shed shelter shelve shepherd shield shift shim shine ship shiver shoot
    shop short-circuit shorten shout shovel show shower shred shrink shrinkwrap shrug shuffle shun shut sideload
    sidestep sift sigh sign sign-off signal signpost silence simmer simplify simulate sing sink sit sketch skew ski
    skim skip slap slash sleep slice slide slim sling slip slow smash smell smile smoke-test smooth smudge snapshot
    snatch sneeze sniff snip snooze snore soak socialise socialize soft-delete soften solder solicit solidify solve
    soothe sort sound source sow spam spare spark sparkle spawn speak spearhead spec specialise specialize specify
    speculate speed spell spell-check spellcheck spend spike spill spin spit splice split splurge spoil sponsor
    spool spot spread sprinkle sprint sprout spy squash squat squeak squeal squeeze stabilise stabilize stack stage
    stagger stall stamp stand standardise standardize star stare start startle stash state stay steal steer stem
    step sterilise sterilize stick stimulate sting stink stipulate stir stitch stop store stow straddle straighten
    strap strategise stream streamline strengthen stress stretch strike strip strive structure strum stub study
    stumble style subclass subdivide submit subscribe subset substitute subsume subtract succeed succumb suck suffer
    suffice suffix sugarcoat suggest suit sum summarise summarize summon superimpose supersede supervise supplement
    supply support suppress surf surface surpass surprise surrender surround survey suspect suspend sustain swaddle
    swallow swap sway swear sweep swell swim swing switch symbolicate symbolise symlink sympathise sync synchronise
    synchronize synthesise synthesize tabulate tackle tag tail tailor taint take talk tally tame tamper tap tar
    target tax teach tear tear-down tease tee telegraph telephone teleport tell temper tempt tenant tend terminate
    terrify test test-drive text thank thaw theme theorise thin think thread threshold thrive throttle throw tick
    tickle tidy tie tighten tilt time time-box timebox timestamp tinker tint tip title titrate toast toggle toil
    tokenise tokenize tolerate tombstone tone top torque toss total touch tour tow toy trace track trade trail train
    transact transcend transclude transcode transcribe transfer transform transfuse transition translate
    transliterate transmit transpile transport transpose trap trash travel traverse tread treat tree-shake trek
    trend triage trick trigger trim trip trot troubleshoot trumpet truncate trust try tuck tug tumble tune turn
    tweak twist type type-check typecheck typeset unalias unblock unbox unbuckle unbundle uncap unclog uncomment
    uncover undeploy undercut underestimate undergo underline underpin underpromise underscore undersell understand
    undertake undervalue undo undress unearth unescape unfasten unfold unfollow unhook unify uninstall unit-test
    unite unlearn unload unlock unmask unmount unpack unpin unplug unpublish unquote unravel unroll unscrew unset
    unsettle unshare unshelve unstage unsubscribe untangle unveil unwind unwrap unzip upcase update upend upgrade
    uphold uplift upload uppercase upsell upsert upvote urge use utilise utilize vacate vacuum validate value vanish
    varnish vary vectorise vectorize vendor venerate vent ventilate venture verify version version-control vet view
    visit visualise visualize vocalise voice void volunteer vortex vote vouch wager wail wait wake walk wander wane
    want warehouse warm warm-up warn warp warrant wash waste watch water watermark wax weaken wear weave weed weep
    weigh weight welcome weld wet whine whip whirl whisk whisper whitelist whittle widen wield wiggle win wind wink
    winnow wipe wire wish withdraw wither withhold withstand witness wobble wonder word work workshop worry worsen
    worship wrangle wrap wreck wrestle wriggle write yawn yell yield zero zeroise zeroize zigzag zip zoom
    """.split()
)

NOUN_VERBS = frozenset(
    """
    abstract accent access act address advance advocate aid aim air alarm alert alias alternate anchor answer
    approach approximate archive arm arrest articulate attack attempt attribute audit author autoclave back balance
    ban bang baste bat batch battle beam bench benchmark bend better bias bid bite blame bleach blend blind block
    blog blow blur board boil bold bolt bomb book bookmark boost boot bootstrap bound bow box branch break bridge
    brief broadcast brown bruise brush bubble bucket budget buffer build bump bundle burn butter button buy buzz
    bypass cache call calm camp cancel cap capture care cast catalog catalogue cause center centre chain chair
    challenge change channel charge chart chase cheat check checkout checkpoint cheer chill chunk circle claim clamp
    clean clear click climb clip clock clone close cluster clutter coach coat code collapse color colour column
    combine command comment commit compact compile complement complete compound compromise concern condition conduct
    confine connect contact content contest contract contrast control cook copy correct correlate cost cough counsel
    count counter couple course cover crack craft crash crawl credit crop cross cry cue cure curl custom cut cycle
    damage dance dash data date deal debate debug decay decline default defect degree delay delegate delete delight
    demand deploy design desire detail dice diff digest dim direct discount dispatch display dispute distance dock
    document doodle dot double doubt draft drain dream dress drift drill drink drive drop dry dump duplicate dust
    ease echo edge edit effect elaborate empty end engineer escape estimate excuse exempt exercise exit experience
    experiment export express extract face factor fail fake fall fan farm favor favour feature feed fence field
    fight figure file fill film filter find finish fire firm fish fit fix flag flap flash flex flip float flood
    floor flow flush focus fold force forecast forge fork form format forward frame free freeze front fuel function
    fund further fuse gain gate gauge glance gloss glow glue gossip grade grant graph grate grip groom ground group
    guarantee guard guess guide halt hammer hand handle harm harness hash haul head heap heat help highlight hint
    hire hit hoe hold home honor honour hook host house hug hum hunt hurry idle impact import impress increase
    increment index initial inline input insert install instrument interest interface interrupt interview inventory
    invite iron issue itch jail jam jitter jog join joke journal judge jump key kick kill kiss knock knot label lag
    land last laugh launch layer lead leak lean leave level leverage license lie lift light limit line link list
    live load lobby lock log look loop loose love lower machine mail major man mandate manifest map march mark mask
    massage master match matter mature measure meet melt mention mentor merge merit mesh mess message milk mind mine
    minor mirror mix mock model moderate monitor mount move mug mulch murder mute nail name narrow need nest network
    note notice null number object offer offset oil onboard open order outline overlap overload override own pace
    pack package pad paddle page paint pair panic paper park part partition pass paste patch pattern pause pay peak
    pedal peer pellet pepper perfect permit pet phase phone photograph phrase pick pickle pilot pin pinch ping pipe
    pipette pitch pivot place plan plane plank plant play plot plug point polish poll pool pop port pose position
    post pound power practice prefix present press preview price prick prime print probe process produce profile
    profit program progress project promise prompt proof prototype provision proxy pull pump punch puncture purchase
    push query question queue quiz quote race rain raise range rank rate ration reach react read reason rebound
    recall recap recess record recruit redirect refactor reference reform refresh refund refuse regard register
    regress regret reign reject relay release relief remedy rent repair repeat replay reply report request rescue
    research reserve reset resort resource respect rest result retry return reuse reverse review reward rework
    rewrite ride ring rise risk roast rock rollback root round route row rule run rush sack saddle sail salt sample
    sand sandbox saw scale scan schedule schema scheme scope score scratch screen screw script seal search season
    seat secure seed segment sense separate sequence server service set shadow shape shard share shelf shell shelter
    shield shift shim shine ship shock shop shortcut show shower sieve sign signal silence sin sink size sketch
    skill skin skip slash sleep slice slip slot slow smell smile smoke snapshot snow sort sound source space span
    spare spark spec speed spell spike spill spin split sponsor spot spray spread spring sprint stack staff stage
    stain stall stamp stand star start state station stay steam stem step stick stock stop store storm strain stream
    stress stretch strike string strip stroke structure struggle stub study stuff style subject subset suffix suit
    sum supply support surface surprise survey suspect swap sweat sweep swing switch sync tab table tag tail talk
    tally tap target task taste tax team telephone temper template tenant test text theme thin thread threshold
    throttle throw tick tie time timestamp tip tire title toast toggle token tone tool top torque total touch tour
    tower toy trace track trade traffic trail train transfer transform transition transport trap trash travel
    treasure treat trend triage trial trick trigger trim trip trouble trust tune turn tutor tweak twist type unit
    update upgrade upload use vacuum value vendor venture version view visit voice void vote wait wake walk wall
    want warm warrant wash waste watch water wave wax weather weed weight welcome wheel whistle win wind wire wish
    witness wonder word work workshop worry wrap yield zero zip zone
    """.split()
)

# Noun or verb, but at the start of a sentence with a bare noun after them nearly always a verb.
MOSTLY_VERBS = frozenset(
    """
    address answer attempt audit avoid ban batch benchmark boost break bump bundle buy cache call calm cancel care
    catch challenge check clean clear clone close collapse combine commit compile connect copy correct count cover
    cut debug default delay delegate delete deploy dim dispatch document drain drop dry dump edit empty escape
    estimate export express extract fail fill find finish fix flag flip flush focus fold force format forward freeze
    gain get grant group guard guide halt handle hash help highlight hire hit hold honor honour import increase
    increment inline insert install invite join judge jump keep kick kill launch lean leave leverage lift limit list
    load lock log look lower mail maintain map mark match measure meet mention merge mind mix mount move mute name
    narrow nest note offer offset omit onboard open order own pack pad panic pass paste pause pay permit phone pick
    pin ping place play poll pop post present press print produce promise pull purchase push put question quote
    raise reach read recall recap refactor refresh refuse reject repair repeat replay reply rescue reserve reset
    respect rest retry return reuse reverse review reward rework rewrite run rush scan schedule seal search secure
    seed separate set shape share ship show sign silence sketch skip sleep slow sort spell spin split spread squash
    start state stay stick stop store strip stub study sum support swap sweep sync tag take tap target test throttle
    throw tie toggle total touch track transfer transform treat trigger trim trust try tune turn tweak update
    upgrade upload use value vendor verify visit wait wake walk warrant wash watch wear welcome win wire word worry
    wrap write yield zip
    """.split()
)

# Adjective or verb: "Clean architecture separates layers." has its verb later, "Clean the cache." is an order.
ADJECTIVE_VERBS = frozenset(
    """
    alternate approximate articulate calm clean clear close complete correct direct dry duplicate elaborate empty exempt
    free idle lower mature moderate narrow open perfect present secure separate slow warm
    """.split()
)
