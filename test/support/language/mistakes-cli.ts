import type { Demand } from './grade.ts'

/** A mistake on the command line; `DIR` is a folder of the test, `--data DIR/data` is added. */
export interface CliMistake extends Demand {
  mistake: string
  words: readonly string[]
  /** Another exit code than 1. */
  code?: number
  /** The command takes no data directory, or is given one that is wrong. */
  isElsewhere?: true
}

const none = ['--url', 'http://127.0.0.1:1', '--key', 'x']
const plans = 'free, developer, starter, professional, scale or enterprise'
const cadences = 'intraday_2_5m, intraday_5m, twice_daily, daily, weekly or monthly'
const series = ['--name', 'x', '--category', 'oil', '--unit', 'barrel', '--currency', 'USD']

/** The mistakes that the review of the language tried, on this machine. */
// biome-ignore format: one mistake a line
export const readCliMistakes: readonly CliMistake[] = [
  { mistake: 'a port in words', words: ['dev', '--port', 'abc'], isElsewhere: true, names: 'flag --port: server.port', right: 'must be an integer from 0 to 65535', got: '"abc"' },
  { mistake: 'a misspelt option', words: ['dev', '--prot', '1'], isElsewhere: true, names: 'unknown option', got: "'--prot'", nearest: 'Did you mean --port?', right: '--help' },
  { mistake: 'an unknown command', words: ['nosuch'], isElsewhere: true, names: 'unknown command', got: "'nosuch'", right: 'wellhead --help' },
  { mistake: 'a directory that cannot be made', words: ['serve', '--data', '/proc/nope'], isElsewhere: true, names: 'Cannot create the directory', got: '/proc/nope', right: 'it does not exist' },
  { mistake: 'a bad file', words: ['import', 'DIR/bad.csv'], code: 2, names: 'bad.csv:2: code', got: 'WTI_UDS', nearest: 'did you mean WTI_USD?', right: 'write an instant with its zone' },
  { mistake: 'a file without a column of codes', words: ['import', 'DIR/nocode.csv'], names: 'no column is known to be the code', right: '--map code=COLUMN', got: 'Date, Close' },
  { mistake: 'an account without an address', words: ['accounts', 'create', 'notanemail'], names: 'email must be', right: 'an e-mail address', got: 'got "notanemail"' },
  { mistake: 'a backup that does not exist', words: ['restore', 'DIR/nofile.db'], names: 'nofile.db', right: 'there is no such file' },
  { mistake: 'a directory that does not exist', words: ['restore', 'DIR/nofile.db', '--data', 'DIR/none'], isElsewhere: true, names: 'There is no data directory', got: 'DIR/none', right: '--create restores into a new one' },
  { mistake: 'a misspelt feed', words: ['feeds', 'add', 'ecbb'], names: 'feed', got: '"ecbb"', nearest: 'Did you mean ecb?' },
  { mistake: 'an unknown feed', words: ['feeds', 'add', 'nasdaq'], names: 'feed', got: '"nasdaq"', right: 'eia, eia_bulk' },
  { mistake: 'a feed without its key', words: ['feeds', 'add', 'eia'], code: 2, names: 'eia: needs_key', right: '--key-file FILE', nearest: 'https://www.eia.gov' },
  { mistake: 'a feed without its licence', words: ['feeds', 'add', 'lbma'], code: 2, names: 'lbma: needs_license', right: '--license accept' },
  { mistake: 'a key file that does not exist', words: ['feeds', 'add', 'eia', '--key-file', 'DIR/none.key'], names: 'Cannot open', got: 'none.key', right: 'it does not exist' },
  { mistake: 'no key of the client', words: ['get', 'wti'], isElsewhere: true, names: 'no API key', right: 'wellhead login ADDRESS' },
  { mistake: 'a server that is not there', words: ['login', 'http://127.0.0.1:1', '--key', 'abc'], isElsewhere: true, names: 'Cannot connect to', got: 'http://127.0.0.1:1', right: 'is the server running?' },
  { mistake: 'a curve of a server that is not there', words: ['curve', 'XX', ...none], isElsewhere: true, names: 'Cannot connect to', got: 'http://127.0.0.1:1', right: 'is the server running?' },
  { mistake: 'a bad configuration', words: ['config', 'explain', '--config', 'DIR/bad.toml'], names: 'bad.toml:2: unknown key', got: 'server.prot', nearest: 'did you mean server.port?', right: 'must be an integer from 0 to 65535' },
  { mistake: 'a promotion without servers', words: ['promote'], names: 'nats.servers', got: 'is empty', right: 'name the servers' },
  { mistake: 'an unknown cadence', words: ['series', 'edit', 'WTI_USD', '--cadence', 'hourly5'], names: 'cadence must be', right: cadences, got: 'got "hourly5"' },
  { mistake: 'a thirteenth month', words: ['quarantine', 'add', 'WTI_USD', '2026-13-01', '--reason', 'x'], names: 'from must be', right: 'a date (YYYY-MM-DD)', got: 'got "2026-13-01"' },
  { mistake: 'a backup without a destination', words: ['backup'], names: 'no backup destination', right: 'name a FILE, or set backups.directory' },
  { mistake: 'Stripe without its key', words: ['serve', '--config', 'DIR/stripe.toml', '--data', 'DIR/stripe', '--port', '0'], isElsewhere: true, names: 'billing.stripe_key must be set', right: 'or choose another provider' },
  { mistake: 'an interval of a server that is not there', words: ['history', 'WTI_USD', '--start', 'yesterday', ...none], isElsewhere: true, names: 'Cannot connect to', got: 'http://127.0.0.1:1', right: 'is the server running?' },
  { mistake: 'a misspelt feed to test', words: ['feeds', 'test', 'jodii'], names: 'feed', got: '"jodii"', nearest: 'Did you mean jodi?' },
  { mistake: 'a file that does not exist', words: ['verify', 'DIR/none.db'], names: 'none.db', right: 'there is no such file' },
]

/** More mistakes. */
// biome-ignore format: one mistake a line
export const moreCliMistakes: readonly CliMistake[] = [
  { mistake: 'a misspelt command', words: ['improt', 'x.csv'], isElsewhere: true, names: 'unknown command', got: "'improt'", nearest: 'Did you mean import?' },
  { mistake: 'a misspelt subcommand', words: ['accounts', 'lst'], isElsewhere: true, names: 'unknown command', got: "'lst'", nearest: 'Did you mean list?' },
  { mistake: 'a misspelt --json', words: ['accounts', 'list', '--jsn'], names: 'unknown option', got: "'--jsn'", nearest: 'Did you mean --json?' },
  { mistake: 'an unknown plan', words: ['accounts', 'create', 'a@example.com', '--plan', 'gold'], names: 'plan must be', right: plans, got: 'got "gold"' },
  { mistake: 'a misspelt plan', words: ['accounts', 'create', 'a@example.com', '--plan', 'profesional'], names: 'plan must be', right: plans, got: 'got "profesional"', nearest: 'Did you mean professional?' },
  { mistake: 'an unknown address', words: ['accounts', 'show', 'ann@example.com'], names: 'account', got: '"ann@example.com"', right: 'wellhead accounts list' },
  { mistake: 'an unknown key', words: ['keys', 'revoke', 'nope', '--yes'], names: 'API key', got: '"nope"', right: 'No API key has the id' },
  { mistake: 'an unknown role', words: ['token', 'create', 'x', '--role', 'boss'], names: 'role must be', right: 'read, data, people or all', got: 'got "boss"' },
  { mistake: 'an unknown dataset', words: ['import', 'DIR/nocode.csv', '--dataset', 'rig-count'], names: 'dataset', got: '"rig-count"', nearest: 'Did you mean rig-counts?' },
  { mistake: 'a misspelt series', words: ['import', 'DIR/nocode.csv', '--series', 'WTI_UDS'], names: '--series must be', right: 'a code of the catalogue', got: 'got "WTI_UDS"', nearest: 'Did you mean WTI_USD?' },
  { mistake: 'an unknown column', words: ['import', 'DIR/nocode.csv', '--series', 'WTI_USD', '--map', 'price=Clos'], names: '--map price=Clos', got: 'Clos is not a column', right: 'Date, Close' },
  { mistake: 'a scale of zero', words: ['import', 'DIR/nocode.csv', '--series', 'WTI_USD', '--scale', '0'], names: '--scale must be', right: 'a number above 0, such as 0.001', got: 'got "0"' },
  { mistake: 'a misspelt time zone', words: ['import', 'DIR/nocode.csv', '--series', 'WTI_USD', '--zone', 'Europe/Berln'], names: '--zone must be', right: 'such as America/New_York', got: 'got "Europe/Berln"' },
  { mistake: 'an export as XML', words: ['export', '--format', 'xml'], names: '--format must be', right: 'csv or ndjson', got: 'got "xml"' },
  { mistake: 'an export of a misspelt code', words: ['export', 'WTI_UDS'], names: 'code', got: '"WTI_UDS"', nearest: 'Did you mean WTI_USD?' },
  { mistake: 'an export into no folder', words: ['export', 'WTI_USD', '--output', 'DIR/no/x.csv'], names: 'Cannot open', got: 'x.csv', right: 'DIR/no does not exist' },
  { mistake: 'a code with a blank', words: ['series', 'add', 'my series', ...series], names: 'code must be', right: '2 to 50 capital letters, digits and _', got: 'got "my series"' },
  { mistake: 'a misspelt code', words: ['series', 'edit', 'WTI_UDS', '--name', 'x'], names: 'series', got: '"WTI_UDS"', nearest: 'Did you mean WTI_USD?' },
  { mistake: 'an unknown batch', words: ['batches', 'show', '999'], names: 'batch', got: '"999"', right: 'No batch has the id' },
  { mistake: 'a misspelt status', words: ['review', 'list', '--status', 'wating'], names: 'status must be', right: 'waiting, flagged, released', got: 'got "wating"', nearest: 'Did you mean waiting?' },
  { mistake: 'a misspelt status of an invoice', words: ['invoices', 'list', '--status', 'payed'], names: '--status must be', right: 'open, paid, void or uncollectible', got: 'got "payed"', nearest: 'Did you mean paid?' },
  { mistake: 'a day in words', words: ['audit', '--since', 'yesterday'], names: 'since must be', right: 'a day or time, such as 2026-11-20', got: 'got "yesterday"' },
  { mistake: 'a limit of zero', words: ['audit', '--limit', '0'], names: '--limit must be', right: 'a whole number above 0', got: 'got "0"' },
  { mistake: 'a clock in words', words: ['dev', '--clock', 'noon'], isElsewhere: true, names: 'flag --clock: dev.clock', right: 'must be an instant with its zone, such as', got: '"noon"' },
  { mistake: 'a misspelt shell', words: ['completion', 'bsh'], isElsewhere: true, names: 'shell must be', right: 'bash, zsh or fish', got: 'got "bsh"', nearest: 'Did you mean bash?' },
]

/** Mistakes that operators made later. */
// biome-ignore format: one mistake a line
export const laterCliMistakes: readonly CliMistake[] = [
  { mistake: 'a host that is none of this machine', words: ['serve', '--host', '999.9.9.9', '--port', '0', '--data', 'DIR/host'], isElsewhere: true, names: 'server.host must be', right: 'an address of this machine', got: 'got "999.9.9.9"' },
  { mistake: 'a misspelt rule of a dataset', words: ['datasets', 'edit', 'rig-counts', '--guards', 'jmup=off'], names: 'guards must be', right: 'jump, unit', got: 'got "jmup"', nearest: 'Did you mean jump?' },
  { mistake: 'a misspelt rule of a series', words: ['series', 'edit', 'WTI_USD', '--guards', 'stopp=off'], names: 'guards must be', right: 'jump, unit', got: 'got "stopp"', nearest: 'Did you mean stop?' },
  { mistake: 'an e-mail to no address', words: ['mail', 'test', 'noaddr', '--config', 'DIR/mail.toml'], names: 'address must be', right: 'an e-mail address', got: 'got "noaddr"' },
  { mistake: 'an alert above a word', words: ['alert', 'add', 'WTI_USD', 'greater_than', 'abc', ...none], isElsewhere: true, names: 'value must be', right: 'a number', got: 'got "abc"' },
  { mistake: 'a mirror in no folder', words: ['sync', 'http://127.0.0.1:1', '--key', 'x', '--into', 'sqlite:no-folder/x.db'], isElsewhere: true, names: 'Cannot open', got: 'x.db', right: 'no-folder does not exist' },
  { mistake: 'a mirror in another file', words: ['sync', 'http://127.0.0.1:1', '--key', 'x', '--into', 'sqlite:DIR/bad.csv'], isElsewhere: true, names: 'Cannot open', got: 'bad.csv', right: 'file is not a database' },
  { mistake: 'a login without an address', words: ['login', 'notaurl'], isElsewhere: true, names: 'address must be', right: 'the URL of a server, such as https://', got: 'got "notaurl"' },
  { mistake: 'a scale in words', words: ['import', 'DIR/nocode.csv', '--series', 'WTI_USD', '--scale', 'abc'], names: '--scale must be', right: 'a number above 0, such as 0.001', got: 'got "abc"' },
  { mistake: 'a backup that is a text', words: ['restore', 'DIR/bad.csv'], names: 'bad.csv must be', right: 'a database or backup of Wellhead', got: 'another kind of file' },
  { mistake: 'a check of a text', words: ['verify', 'DIR/bad.csv'], isElsewhere: true, names: 'bad.csv must be', right: 'a database or backup of Wellhead', got: 'another kind of file' },
  { mistake: 'a change of an account without a change', words: ['accounts', 'set', 'operator@localhost'], names: 'accounts set', right: 'name at least one change, such as --plan' },
  { mistake: 'a change of a series without a change', words: ['series', 'edit', 'WTI_USD'], names: 'series edit', right: 'name at least one field to change, such as --name' },
  { mistake: 'a section of an unknown feed', words: ['config', 'explain', '--config', 'DIR/feed.toml'], names: 'feed.toml:1: unknown key', got: 'feeds.eai', nearest: 'did you mean feeds.eia?' },
  { mistake: 'an export of a code that resembles none', words: ['export', 'QQQQ'], names: 'Unknown code', got: '"QQQQ"', right: '"wellhead codes" searches the catalogue' },
  { mistake: 'a configuration as prices', words: ['import', 'DIR/bad.toml', '--series', 'WTI_USD'], names: 'bad.toml starts like JSON', right: 'must be valid JSON to its end', got: 'Unexpected identifier' },
  { mistake: 'a restore from a day in words', words: ['restore', '--from', 'yesterday'], names: '--from must be', right: 'latest, or a time such as', got: 'got "yesterday"' },
]
