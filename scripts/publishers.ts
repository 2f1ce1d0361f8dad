import { standIn, standInKey } from '../test/support/publishers/stand-in.ts'
import { isHere } from '../test/support/requirements.ts'

/**
 * All publishers on one port of this machine, to try feeds without the internet: `bun run
 * publishers [port]`.
 */
const publishers = await standIn({ port: Number(process.argv[2] ?? 8471) })
const lines = [
  `The publishers answer at ${publishers.url}, up to ${publishers.today}.`,
  ...(isHere('../shared/data')
    ? []
    : ['../shared/data is not there: only made-up series have values.']),
  '',
  'In wellhead.toml:',
  '',
  '  [egress]',
  '  allow = ["127.0.0.1/32"]',
  '  [feeds.ecb]',
  `  base_url = "${publishers.url}"`,
  '  [feeds.eia]',
  `  key = "${standInKey}"`,
  `  base_url = "${publishers.url}"`,
]
process.stdout.write(`${lines.join('\n')}\n`)
