/** A pattern that plain English does without, and what to write instead. */
export interface BannedPattern {
  name: string
  pattern: RegExp
  instead: string
}

const banned = (name: string, pattern: RegExp, instead: string): BannedPattern => ({
  name,
  pattern,
  instead,
})

/** Patterns that no text may contain, in any area. */
export const bannedPatterns: readonly BannedPattern[] = [
  banned('whoever', /\bwhoever\b/gi, 'the noun: users, operators, anyone who'),
  banned('anew', /\banew\b/gi, 'again; resets; is rebuilt'),
  banned('can not', /\bcan not\b/gi, 'cannot'),
  banned(
    'is no',
    /\b(?<!there )(?:is|are) no (?!longer\b|more than\b|later than\b|less than\b)/gi,
    'is not a',
  ),
  banned('is none of', /\bis none of\b/gi, 'must be …; got …'),
  banned('is neither', /\b(?:is|are) neither\b/gi, 'must be …; got …'),
  banned('goes on', /\b(?:goes?|going|went) on\b(?! (?:line|sale))/gi, 'continues'),
  banned('percent with a space', /\d %/g, '5%'),
  banned('he for the reader', /\b(?:he|him|his|himself)\b/g, 'you; the user; they'),
  banned(
    'copy for instance',
    /\b(?:this|evaluation|whole|running|every|other|one|another|your|demo) cop(?:y|ies)\b(?! of)/gi,
    'instance, demo instance, replica, backup',
  ),
  banned('the interface', /\b(?:the|whole|this|documented) interface\b/gi, 'the API'),
  banned(
    'fold the log',
    /\bfold(?:s|ed|ing)? (?:the log|it into|of the log|into the database)|\b(?:log|it) (?:is|was) folded|\bfolding\b|\bthe folder thread\b/gi,
    'checkpoint the WAL',
  ),
  banned(
    'matter',
    /\b(?:a|an|the|every|each|open|of|one|this|that|no|which) matters?\b/gi,
    'operator alert',
  ),
  banned(
    'letter for e-mail',
    /(?<!\b(?:two|three|capital|lower-case|each|its|of|one|with a)[ -])\bletters?\b(?!,? ?(?:case|code|digits|or digit|and digit|first|of the))/gi,
    'e-mail',
  ),
  banned('second step', /\bsecond step\b/gi, 'two-factor authentication'),
  banned('way out', /\b(?:ways?|that go) out\b|\bevery way\b/gi, 'delivery channel'),
  banned('stranger', /\bstrangers?\b/gi, 'unverified recipient; anonymous visitor'),
  banned('rhythm', /\brhythms?\b/gi, 'schedule; interval'),
  banned(
    'doubt',
    /\b(?:doubt(?:s|ed|ful)?|not believed|disbeliev\w+)\b/gi,
    'flagged; held for review; outside the accepted range',
  ),
  banned('own series', /\bown series\b/gi, 'custom series'),
  banned('whose it is', /\bwhose it is\b/gi, 'source; owner'),
  banned('placed subscription', /\bplaced subscriptions?\b/gi, 'operator-assigned subscription'),
  banned('tell', /\b(?:tells?|told|telling)\b/gi, 'notify; return; report'),
  banned('hear', /\b(?:hears?|heard)\b/gi, 'receive; be notified'),
  banned('look at', /\b(?:looks?|looked|looking) at\b/gi, 'evaluate; read; check'),
  banned('lineage', /\blineages?\b/gi, 'replication epoch'),
  banned('shed', /(?<!load-)\bshed(?:s|ding)?\b/gi, 'load-shed'),
  banned('walk', /\b(?:a|the|each|every|page) walks?\b/gi, 'paging snapshot'),
  banned('lay down', /\b(?:lays?|laid|laying) (?:down|out|on)\b|\bis laid\b/gi, 'generate'),
  banned('beside', /\bbeside\b/gi, 'in addition to; next to'),
  banned('meanwhile', /\bmeanwhile\b/gi, 'while this runs; in the meantime'),
  banned('for good', /\bfor good\b/gi, 'permanently'),
  banned('of its own', /\bof (?:its|their|one's) own\b/gi, 'its own'),
  banned('nobody', /\b(?:nobody|somebody)\b/gi, 'no one; anonymous; a user'),
  banned('in place of', /\bin place of\b/gi, 'instead of'),
  banned(
    'stands in',
    /\b(?:stands?|lies?|lay) (?:in|at|on|under|beside|there)\b/gi,
    'is in; is stored in',
  ),
  banned('asks a machine', /\b(?:is|are|was|were) asked\b/gi, 'is requested; is called'),
  banned('at once together', /\bas good as\b|\bglad of\b|\bin one word\b/gi, 'the fact'),
  banned('what to do', /\bwhat to do\b/gi, 'Actions'),
  banned('(default) in parentheses', /[\d…] to [\d…·]+ \([\d…]+\)[.,;]/g, 'default: 365'),
]

/** Patterns at the start of a comment. */
export const commentStarts: readonly BannedPattern[] = [
  banned('comment begins with Of', /^Of /g, 'a sentence with a subject and a verb'),
  banned('comment begins with What', /^What (?:is|was|are|were)\b/g, 'a sentence with a subject'),
]
