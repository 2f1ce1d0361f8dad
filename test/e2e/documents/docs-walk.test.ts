import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Wellhead } from '../../../clients/testkit/src/testkit.ts'
import { type Block, blocksOf, pages, shownReasons } from '../../support/docs.ts'
import { binary } from '../../support/instance/binary.ts'
import { startInstance } from '../../support/interface/packages.ts'
import { needs } from '../../support/needs.ts'
import type { Need } from '../../support/requirements.ts'
import { freePort } from '../../support/servers/nats.ts'

/**
 * Runs every sample of the documentation in the order of its page, on the binary, in one shell for
 * each page. A page that starts no server gets a demo instance, or an empty server where it runs
 * commands of an operator.
 */

/** Pages whose samples other tests run. */
const runElsewhere: Readonly<Record<string, string>> = {
  clients: 'test/clients/examples.test.ts',
  'command-line': 'test/clients/examples.test.ts',
  research: 'test/clients/quant.test.ts',
  testkit: 'test/clients/testkit.test.ts',
}

const isProgram = ({ language }: Block) => ['sh', 'python', 'ts'].includes(language)
const isRun = (block: Block) =>
  isProgram(block) &&
  block.options.shown === undefined &&
  // A receiver of webhooks serves until it is stopped: test/console/docs/receivers.test.ts.
  !block.text.includes('WEBHOOK_SECRET')

const walked = pages
  .filter(({ name, file }) => !Object.hasOwn(runElsewhere, name) && file.startsWith('docs/'))
  .map(page => ({ page, blocks: blocksOf(page) }))
  .filter(({ blocks }) => blocks.some(isRun))

const root = mkdtempSync(join(tmpdir(), 'wellhead-walk-'))
let demo: Promise<Wellhead> | undefined
/** One demo instance for all pages that only use the API. */
const sharedDemo = () => {
  demo ??= startInstance()
  return demo
}
beforeAll(() => {
  binary()
}, 600_000)
afterAll(async () => {
  if (demo) await (await demo).stop()
  rmSync(root, { recursive: true, force: true })
})

/**
 * Programs that a page uses: a server stays in the background until the shell ends, the service of
 * the package is one in a directory of this test, and what changes the system changes nothing.
 */
const prelude = `
set -euo pipefail
served=
field() { sed -n "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p" .ready.json; }
curl() { command curl -sS --max-time 60 -w '%{stderr}status %{http_code}\\n' "$@"; }
stop() { if [ -n "$served" ]; then kill $served; wait $served || true; served=; fi; }
trap stop EXIT
launch() {
  rm -f .ready.json
  "$BINARY" "$@" --ready-file .ready.json > server.log 2>&1 < /dev/null &
  served=$!
  until [ -s .ready.json ]; do kill -0 $served || { cat server.log >&2; exit 1; }; sleep 0.05; done
  if [ -n "$(field api_key)" ]; then API_KEY=$(field api_key); ADMIN_TOKEN=$(field admin_token); fi
}
wellhead() { case $1 in serve | dev) launch "$@" ;; *) "$BINARY" "$@" ;; esac; }
sudo() { "$@"; }
systemctl() {
  case $1 in
    start) [ -n "$served" ] || launch serve ;;
    stop) stop ;;
    restart) stop; launch serve ;;
  esac
}
apt() { :; }
chown() { :; }
export -f curl
`

/** A sample as the shell of its page runs it. */
function runnable({ text, language, options }: Block, i: number): string {
  if (language === 'sh') return text
  const name = options.file ?? `block-${i}.${language === 'python' ? 'py' : 'ts'}`
  const program = language === 'python' ? 'python3' : `'${process.execPath}'`
  const written = `sed -e "s/YOUR_API_KEY/$API_KEY/" > ${name} <<'END_OF_BLOCK'\n${text}END_OF_BLOCK\n`
  return options.file === undefined ? `${written}${program} ${name}\n` : written
}

interface Setting {
  origin: string
  env: Record<string, string>
  /** Starts what the page expects to be there. */
  before: string
}

async function settingOf(blocks: readonly Block[], cwd: string): Promise<Setting> {
  const text = blocks.map(block => block.text).join('\n')
  const port = String(await freePort())
  const own = {
    origin: `127.0.0.1:${port}`,
    env: {
      WELLHEAD_SERVER_PORT: port,
      WELLHEAD_LIMITS_PER_MINUTE: '100000',
      // No request of a feed leaves the machine.
      WELLHEAD_FEEDS_ENABLED: 'false',
    },
  }
  if (/systemctl|\/var\/lib\/wellhead/.test(text)) {
    mkdirSync(join(cwd, 'var/lib'), { recursive: true })
    mkdirSync(join(cwd, 'etc/wellhead'), { recursive: true })
    writeFileSync(join(cwd, 'etc/wellhead/wellhead.toml'), '')
    const env = {
      ...own.env,
      WELLHEAD_DATA_DIR: join(cwd, 'var/lib/wellhead'),
      WELLHEAD_CONFIG: join(cwd, 'etc/wellhead/wellhead.toml'),
    }
    return { ...own, env, before: text.includes('systemctl start') ? '' : 'launch serve' }
  }
  if (/wellhead (serve|dev)\b/.test(text)) return { ...own, before: '' }
  if (/\bwellhead \w/.test(text)) return { ...own, before: 'launch serve' }
  const { url, apiKey, adminToken } = await sharedDemo()
  return {
    origin: new URL(url).host,
    env: { API_KEY: apiKey, ADMIN_TOKEN: adminToken },
    before: '',
  }
}

/** Texts of a sample that must equal those of the response, because readers expect exactly them. */
const isQuoted = (place: string): boolean => /\.(message|code|field|status)$/.test(place)

/** 64 hexadecimal digits look alike, and any other text is only of the type of a text. */
const isLike = (sample: string, actual: string, place: string): boolean =>
  isQuoted(place)
    ? sample === actual
    : !place.endsWith('token') || isToken(sample) === isToken(actual)
const isToken = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** Names that a JSON sample has and the response has not, or has of another type or with other words. */
function differences(sample: unknown, actual: unknown, place = ''): string[] {
  if (Array.isArray(sample))
    return Array.isArray(actual)
      ? sample.flatMap((item, i) => differences(item, actual[i], `${place}[${i}]`))
      : [place]
  if (typeof sample === 'object' && sample !== null)
    return typeof actual === 'object' && actual !== null
      ? Object.entries(sample).flatMap(([name, value]) =>
          differences(value, (actual as Record<string, unknown>)[name], `${place}.${name}`),
        )
      : [place]
  if (typeof sample === 'string' && typeof actual === 'string')
    return isLike(sample, actual, place) ? [] : [`${place} is ${JSON.stringify(actual)}`]
  return typeof sample === typeof actual ? [] : [place]
}

/** Why a block did not behave as its page describes; undefined where it did. */
function fault(
  block: Block,
  next: Block | undefined,
  out: string,
  err: string,
): string | undefined {
  const statuses = [...err.matchAll(/^status (\d+)$/gm)].map(match => match[1]!)
  if (/^\s*curl /m.test(block.text) && statuses.length === 0) return `it calls nothing: ${err}`
  const right = block.options.answers ? new RegExp(block.options.answers) : /^(2..|304|000)$/
  const wrong = statuses.find(status => !right.test(status))
  if (wrong !== undefined) return `status ${wrong}: ${out}`
  if (block.language !== 'sh' && err !== '') return err
  if (block.language !== 'sh' || next?.language !== 'json' || next.options.shown !== undefined)
    return undefined
  const body = out.replace(/^HTTP[\s\S]*?\r\n\r\n/, '')
  const different = differences(JSON.parse(next.text), JSON.parse(body))
  return different.length === 0 ? undefined : `the response differs: ${different.join(', ')}`
}

describe('every sample of the documentation', () => {
  test('is run by this test, by a separate test, or gives the reason why it is only shown', () => {
    const reasons = pages
      .flatMap(blocksOf)
      .filter(isProgram)
      .flatMap(({ page, line, options }) =>
        options.shown === undefined
          ? []
          : [{ place: `${page.file}:${line}`, shown: options.shown }],
      )
    expect(reasons.filter(({ shown }) => !Object.hasOwn(shownReasons, shown))).toEqual([])
    expect(walked.length).toBeGreaterThan(35)
  })

  for (const { page, blocks } of walked) {
    const run = blocks.filter(isRun)
    const needed: Need[] = ['bash', 'curl']
    if (run.some(({ language }) => language === 'python')) needed.push('python 3.10')
    if (run.some(({ options }) => options.needs === 'pandas')) needed.push('pandas')
    needs(...needed).test(
      `works in the order of its page: ${page.name}`,
      async () => {
        const cwd = join(root, page.name)
        mkdirSync(cwd)
        const { origin, env, before } = await settingOf(run, cwd)
        const placed = (text: string) =>
          text
            .replaceAll('127.0.0.1:8470', origin)
            .replaceAll('YOUR_API_KEY', '$API_KEY')
            .replaceAll('YOUR_ADMIN_TOKEN', '$ADMIN_TOKEN')
            .replaceAll(/(?<![\w./])\/(var\/lib|etc\/wellhead)/g, `${cwd}/$1`)
        const script = run.map((block, i) => {
          const text =
            block.language === 'sh'
              ? placed(runnable(block, i))
              : runnable(block, i).replaceAll('127.0.0.1:8470', origin)
          const output = `> out.${i} 2> err.${i}`
          if (block.options.exits === undefined) return `echo ${i} > at\n{\n${text}} ${output}`
          // In a subshell: its failure must not end the page.
          return `echo ${i} > at
set +e
( set -e
${text}) ${output}
code=$?
set -e
case " ${block.options.exits.replace(',', ' ')} " in *" $code "*) ;; *) exit 99 ;; esac`
        })
        writeFileSync(join(cwd, 'walk.sh'), `${prelude}${before}\n${script.join('\n')}\n`)
        const child = Bun.spawn(['bash', 'walk.sh'], {
          cwd,
          env: { PATH: process.env.PATH, HOME: cwd, BINARY: binary(), ...env },
          stdout: 'pipe',
          stderr: 'pipe',
        })
        const [out, err] = await Promise.all([
          new Response(child.stdout).text(),
          new Response(child.stderr).text(),
        ])
        const code = await child.exited
        const read = (name: string) => {
          try {
            return readFileSync(join(cwd, name), 'utf8')
          } catch {
            return ''
          }
        }
        const last = Number(read('at') || '0')
        const told = `${page.file}:${run[last]!.line}\n${out}${err}${read(`out.${last}`)}${read(`err.${last}`)}`
        expect(code, told).toBe(0)
        const faults = run.flatMap((block, i) => {
          const rest = blocks.slice(blocks.indexOf(block) + 1)
          const next = rest.find(({ language }) => language === 'json' || language === 'sh')
          const problem = fault(block, next, read(`out.${i}`), read(`err.${i}`))
          return problem === undefined ? [] : [`${page.file}:${block.line}: ${problem}`]
        })
        expect(faults).toEqual([])
      },
      180_000,
    )
  }
})
