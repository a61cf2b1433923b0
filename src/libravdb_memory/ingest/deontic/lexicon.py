"""Closed word classes and idioms the rule families consult. Law: lower case only, contractions already expanded."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SUBJECT_PRONOUNS = words("i you he she it we they this that these those who there here one someone somebody")
OBJECT_PRONOUNS = words("it them me us him everything anything nothing something yourself themselves itself everyone")
DETERMINERS = words(
    """
    the a an any all every each this these those your my our its their his her no both some such either another
    multiple several many more most fewer whatever whichever one two three four five six seven eight nine ten
    """
)
PREPOSITIONS = words(
    """
    in on at to for from with without by into onto over under against between through during before after about
    above below across along around behind beside beyond near off out up down per via within towards toward until
    upon among inside outside like as than away back ahead forward together apart aside instead
    """
)
ADVERBS = words(
    """
    also then still only really definitely absolutely probably just now generally normally typically therefore
    simply ever even again once always never not usually often sometimes first carefully quickly explicitly directly
    automatically strictly sparingly early late twice clearly plainly locally here there too so well hard closely
    overnight outside inside alone aloud
    """
)
ARTICLES = words("the a an any every each your our my its their this these those")
SUBORDINATORS = words(
    """
    that which who whom whose if when whenever before after unless because since while until till where wherever
    whether although though what how why once so whichever whatever whoever
    """
)
FINITE = words(
    """
    is are was were am has had does did will would can could should must may might shall ought isn't cannot become
    became seems seem goes went happens happened remains means
    """
)
PAST = words(
    """
    was were had did went came said told knew thought felt took gave got made left kept found wrote ran began saw
    heard brought bought taught caught sold sent spent built lost met paid led held stood understood won wore drew
    drove ate fell flew forgot grew hid rode rose sang sank spoke stole swam threw woke broke chose froze shook bore
    beat became been done gone seen known taken given written shown drawn fallen grown stuck slept swept wept dealt
    meant dreamt learnt burnt spelt slid spun struck swung shot sat dug fed fought fled hung laid lay lent lit rang
    sought shone sped spat sprang stung strode swore tore wound wove withdrew rewrote rebuilt reran redid undid
    forgave foresaw blew shrank clung crept bred bled bent bit blown bound flung knelt leapt leant slung slunk smelt
    spilt spoilt strung wrung sewn sown swollen trod outgrew overcame overtook withstood arose
    """
)
REPORTING = words(
    """
    said says say told tell tells asked asks claimed claims claim thinks thought think believes believed believe
    suggested suggests wrote writes explained explains warned warns argued argues insisted insists mentioned
    mentions reported reports noted learned learnt heard read knew knows know felt feels decided decides wondered
    wonders agreed agrees promised ordered orders hoped hopes hope wish wished wishes remembered realised realized
    stated states complained complains guess suppose doubt bet recall recalled according
    """
)
FIRST_PERSON = words("i we me us myself ourselves")
THIRD_PERSON = words("he she his her him my someone somebody something there mine")
FIRST_NAMES = words(
    """
    alice bob carol dave eve anna ana tom tim jim john jane mary peter paul mark lisa laura sarah sara sam max lena
    li kim alex chris mike michael david daniel emma olivia noah liam jack james kate katie ben dan joe jo nina eva
    maria marie sophie julia lucy leo luca marco mom mum dad mother father grandma grandpa grandmother grandfather
    sister brother uncle aunt god nobody's
    """
)
PEOPLE = words(
    """
    contributors users developers agents reviewers members employees contractors maintainers guests visitors staff
    engineers admins administrators authors committers teams callers clients volunteers students tenants residents
    customers participants drivers managers interns operators moderators everyone everybody anyone anybody nobody
    agent assistant assistants subagents pupils parents grandparents children trustees people
    """
)
PEOPLE_ENDINGS = ("ers", "ors", "ists", "ants", "ees", "ians", "ysts", "parents", "children", "people", "men", "women")
THINGS_IN_ERS = words(
    """
    servers parameters numbers errors containers workers headers handlers vectors monitors computers buffers
    pointers parsers letters orders others factors colors sensors routers browsers controllers loggers filters
    timers triggers papers rivers towers folders identifiers characters processors schedulers variants constants
    tenants trees fees comments documents segments matters layers wrappers helpers builders serializers offers
    powers mirrors doors floors indicators generators iterators selectors connectors adapters plugins providers
    listeners observers checkers linters formatters compilers clusters registers counters chapters answers
    """
)
UNIVERSALS = words("all every each any no nobody everyone everybody anyone anybody none nothing neither")

# Words before the main clause that carry no rule of their own: "Also, run …", "OK, so please …".
LEADERS = words(
    """
    and but so or also then now first firstly secondly thirdly finally lastly instead otherwise just simply kindly
    please again therefore thus hence ideally generally usually typically normally additionally furthermore moreover
    meanwhile afterwards further ok okay yes yeah yep hey hi hello thanks alright anyway hmm oh importantly
    similarly likewise specifically preferably consequently optionally henceforth conversely eventually actually nit
    accordingly
    """
)
VOCATIVES = words(
    """
    claude codex copilot gemini cursor gpt chatgpt assistant agent agents team everyone folks guys no dear friend
    nah lgtm nope yup sorry nice good fine awesome excellent wow ah hm next second third right great perfect cool
    sure well still mostly better plus
    """
)
OPENERS = words(
    """
    if when whenever before after unless for in on to once while until during with without at by as where wherever
    given because since although though even except besides upon per under from within across through between
    regarding depending than every each next should above throughout rather instead apart whether about outside
    inside against assuming provided prior using till of over beyond following despite starting going whatever
    whichever regardless so
    """
)
WH_WORDS = words("what why who which whose how where when whom")
AUXILIARIES = words("do does did is are was were can could will would should shall may might must have has had am")
TAGS = words("ok okay alright right understood clear please yes deal got is will would thanks")

NOT_VERBS = words(
    """
    about above according actual additional afterwards all almost already although always am an and another any
    anybody anyone anything apparently are around as at available back bad basic because before behind below best
    besides both but by can cannot certain certainly clearly common completely could current currently decent deep
    different does done during each early either else enough entire essentially even eventually ever every everybody
    everyone everything exactly example examples excellent except extra few finally first following for former
    formerly frequently from full fully funny furthermore generally glad good great had half happy hard hardly has
    he hence her here hers high him his hopefully how however huge i if important in indeed initially inside instead
    interesting into is it its just key large last late lately later latest least less likely little local long lots
    luckily main many maybe me meanwhile mine more most mostly much must my naturally near nearly necessary neither
    new next nice no nobody none nope nor not nothing nowadays obviously occasionally of often oh ok okay old on
    once one only onto or original originally other others our ours outside over overall own particularly past per
    perhaps plain pleased plenty possible possibly pretty previous previously primarily prior probably proud proper
    public quick quickly quiet quite rather ready real really recent recently relevant right roughly same second
    secondary several shall she short should similar simple since single small so some somebody someone something
    sometimes somewhere soon sorry special specific standard still strange strong such sure technically thank thanks
    that the their theirs them then there therefore these they third this those though three through throughout thus
    to today together tomorrow tonight too toward towards true twice two typically under unfortunately unlike until
    up upon us useful usually various very via was we weird well were what whatever when whenever where whereas
    wherever whether which while who whoever whole whom whose why will with within without would wrong yeah yes
    yesterday yet you young your yours alas ahead apart aside away despite nevertheless nonetheless otherwise hello
    hi hey dear lol haha hmm wow ouch yay congrats congratulations cheers api apis app apps application backend
    frontend database databases server servers client clients config configuration repository repo package packages
    module modules component components library framework directory directories folder folders python javascript
    typescript java rust golang kotlin swift ruby php node npm pnpm yarn docker kubernetes git github gitlab linux
    windows macos postgres redis kafka react django flask rails spring angular vue vite webpack gradle maven cargo
    terraform ansible aws azure overview background summary introduction installation setup prerequisites
    requirements dependencies features usage contents architecture layout goals values voice notes roadmap history
    status context people person man woman child children time day week month year morning evening night winter
    summer autumn lunch dinner breakfast food house home school office company team project story book letter king
    queen dog cat mother father sister brother friend friends family kids money music weather sea sun moon sky
    sunset photos pictures flight train car bus trip holiday weekend birthday kindness honesty curiosity silence
    security privacy quality performance safety truth life death love hope fear joy nature art science information
    software hardware memory disk storage cpu gpu version versions release releases production staging development
    environment variable variables function functions class classes method methods parameter parameters argument
    arguments option options flag flags field fields keys token tokens secret secrets password passwords user users
    admin admins customer customers developer developers engineer engineers manager managers agent agents assistant
    bot human humans plus minus vs etc vendor-neutral cold warm hot dry wet tired hungry busy free-form afraid aware
    curious calm kind-hearted honest brief-lived low-level high-level read-only real-time open-source built-in
    follow-up set-up start-up back-end front-end monorepo workspace workspaces typescript-first kotlin-first private
    accurate adequate immediate appropriate ultimate intermediate climate candidate certificate plate delicate
    desperate fortunate intimate legitimate passionate corporate chocolate pirate senate estate magistrate affiliate
    associate graduate subordinate inaccurate inadequate considerate illegitimate innate ornate sedate likewise
    clockwise noise paradise enterprise expertise merchandise premise treatise concise precise wise size prize
    """
) - words("back first open own still well calm clean clear complete correct direct empty free narrow slow warm")

NOUN_SUFFIXES = tuple(
    "tion sion ment ness ity ship ism ist ance ence ful less ous ive able ible al ic ly logy hood dom ry phy omy cy"
    " ant ent er or age ure ian ward wards wise ics ting ware base line side end stack".split()
)
VERB_SUFFIXES = ("ise", "ize", "ify", "yse", "yze", "ate")
VERB_PREFIXES = ("re", "un", "de", "dis", "mis", "over", "pre", "co", "auto", "cross", "double", "out", "under", "back")

# -- what follows a modal without making a rule -----------------------------------------------------------------

EPISTEMIC_STATES = words(
    """
    joking kidding exhausted tired hungry thrilled mad crazy proud new lost nice hard tough fun great lonely cold
    wrong down broken around about something some due because why how what fine ok okay good enough easy able there
    here back soon over up online out freezing starving excited delighted relieved bored sick asleep dead right so
    very really pretty quite raining sorry insane awful horrible lovely wonderful gone home missing away true the
    """
)
FORECAST_STATES = words("done fixed set ready available live safe possible merged released")
PREDICTED = words("leave depart arrive work help fix finish land come suffice improve happen notice appear")
PREDICTION_TIMES = words("now soon tomorrow tonight shortly today already minute yet")
PERCEPTION = words(
    """
    see find imagine tell hear feel guess think even smell believe know notice understand recognise recognize say
    expect learn wonder admit laugh love hate wait win beat remember agree forgive excuse relate realise realize
    relax chill miss want get look
    """
)
NEVER_SAID = words("know call listen told said knew called asked learn change understand cease forget came saw had")
STATIVE = words(
    """
    know understand get care love like see have want need say think believe remember mean deserve seem look sound
    feel realise realize matter happen exist belong miss hate
    """
)
PERSONA_VERBS = words(
    """
    speak write answer respond help value prefer care believe treat follow work act keep ask explain use report
    reply operate assist communicate guide serve maintain own review specialise specialize think exist protect
    respect avoid focus prioritise prioritize strive aim seek challenge offer provide support teach listen adapt
    remember admit acknowledge celebrate stay remain behave represent understand approach translate summarise
    summarize refuse decline format produce generate verify confirm embody surface flag track cite coordinate
    monitor analyse analyze draft document design escalate delegate mentor advise recommend moderate curate defer
    validate manage research share organise organize
    """
)
AGENT_STATES = words(
    """
    helping working operating acting assisting tasked designed built pairing speaking talking writing playing
    chatting answering responding reviewing building interacting advising
    """
)
COMPLIMENTS = words(
    """
    right correct wrong welcome kidding joking amazing awesome great funny late early lucky sweet kind crazy so too
    very absolutely totally completely going getting looking standing sitting walking done good fine nice mistaken
    currently probably both all in on at about being still just back hilarious incredible brilliant wonderful lovely
    killing making using missing seeing trying asking doing saying telling seriously such already up out off sure
    overthinking forgetting confusing beautiful dead hired invited busy tired sick logged connected
    """
)
ROLES = words(
    """
    assistant tutor coach reviewer agent editor secretary copilot partner pair teacher mentor guide companion writer
    programmer engineer researcher analyst translator planner chef butler librarian advisor adviser
    """
)
PRAISED = words("best worst star genius legend lifesaver angel hero one man boss goat champ treasure gem reason only")

# -- requirement vocabulary --------------------------------------------------------------------------------------

ASKED = words("expected asked requested advised encouraged obliged instructed reminded supposed")
INVITED = words("welcome free entitled invited")
REQUIRED = words(
    """
    required mandatory compulsory obligatory non-negotiable imperative essential necessary preferred expected
    """
)
PROHIBITED = words(
    """
    forbidden prohibited disallowed banned unacceptable off-limits verboten discouraged taboo frowned
    """
)
ALLOWED = words("allowed permitted optional acceptable fine ok okay welcome encouraged")
REQUIREMENT_LABELS = words(
    """
    requirement requirements constraint constraints rule rules target targets policy must mandatory required limit
    limits guideline guidelines sla slo invariant invariants principle principles convention conventions criteria
    criterion standard standards directive directives instruction instructions obligation max maximum min minimum
    mandate prerequisite non-negotiable non-negotiables budget quota threshold do always action actions golden
    """
)
PROHIBITION_LABELS = words(
    """
    forbidden prohibited never don't avoid disallowed banned off-limits not don’t dont anti-pattern anti-patterns
    """
)
PERMISSION_LABELS = words("allowed permitted optional permission permissions may")
IDLE_LABELS = words(
    """
    todo fixme example examples e.g output input result answer q a question expected actual before after usage
    returns raises args arguments parameters params summary title subject description from fixed added changed
    removed
    """
)
PERSONA_NOUNS = words(
    """
    name tone voice style role job task goal mission purpose responsibility responsibilities personality persona
    duty character identity objective language aim vibe creature focus audience expertise speciality specialty motto
    mood temperament attitude demeanour demeanor humour humor patience loyalty sense
    """
)
NOTHING_WRONG = words(
    """
    problem problems worries idea luck way thanks doubt wonder kidding matter comment comments offense offence rush
    news errors error issues issue changes change results result tests output response reply data need more one big
    hurry clue pressure progress difference surprise surprises regrets failures warnings diff sign sleep longer
    thank objections complaints decision decisions questions question new such wait answer matches match joke plans
    plan harm chance sooner worse better other further action
    """
)
FOUND = words("yet found needed far today yesterday left here there either anymore available planned required so")
APPROVALS = words(
    """
    approval approvals review reviews sign-off consent permission confirmation authorisation authorization
    """
)
