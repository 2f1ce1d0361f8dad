import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Server } from 'bun'
import { parse as parseToml } from 'smol-toml'
import { loadConfig } from '../../../src/config/config.ts'
import { filled, sampleKey, sampleOrigin } from '../../../src/console/guides/guide.ts'
import { guideNames, guidesDirectory, readGuides } from '../../../src/console/guides/read.ts'
import { pagePaths } from '../../../src/console/paths.ts'
import { timestampedSignature } from '../../../src/lib/secrets/signature.ts'
import { emptyDirectory } from '../../support/instance/command.ts'
import { type DemoInstance, demoInstance } from '../../support/instance/demo-instance.ts'
import { needs } from '../../support/needs.ts'
import type { Need } from '../../support/requirements.ts'
import { until } from '../../support/until.ts'

const root = resolve(import.meta.dir, '../../..')
const guides = readGuides()

interface Block {
  guide: string
  line: number
  language: string
  /** The status that its calls are answered with, where that is a refusal. */
  answers: string | undefined
  text: string
}

/** Every fenced block of a guide, from its Markdown. */
function blocksOf(guide: string): Block[] {
  const text = readFileSync(join(guidesDirectory, `${guide}.md`), 'utf8')
  return [...text.matchAll(/^```(\w+)(?: answers=(\d+))?\n([\s\S]*?)^```$/gm)].map(match => ({
    guide,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1]!,
    answers: match[2],
    text: match[3]!,
  }))
}
const blocks = guideNames.flatMap(blocksOf)

/** What runs a program of a language, and what it needs. */
const runners: Record<string, { file: string; command: string[]; needed: Need[] }> = {
  python: { file: 'sample.py', command: ['python3', 'sample.py'], needed: ['python 3.10'] },
  ts: { file: 'sample.ts', command: [process.execPath, 'sample.ts'], needed: [] },
  go: { file: 'sample.go', command: ['go', 'run', 'sample.go'], needed: ['go'] },
  php: {
    file: 'sample.php',
    command: ['php', '-S', '127.0.0.1:9000', 'sample.php'],
    needed: ['php'],
  },
}

interface Outcome {
  code: number
  out: string
  err: string
}

async function run(command: string[], cwd: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(command, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err } satisfies Outcome
}

/** Serves a copy on a port of its own. */
function served(now?: number): { instance: DemoInstance; server: Server<unknown>; origin: string } {
  const instance = demoInstance(now, { 'limits.unauthenticated_per_minute': '100000' })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: request => instance.running.app.handle(request),
  })
  return { instance, server, origin: `http://127.0.0.1:${server.port}` }
}

/** Texts of a sample that must be those of the answer: a reader takes them for what comes. */
const isQuoted = (place: string): boolean => /\.(message|code|field|status)$/.test(place)

/** 64 hexadecimal digits look alike, and any other text is only of the type of a text. */
const isLike = (sample: string, answer: string, place: string): boolean =>
  isQuoted(place)
    ? sample === answer
    : !place.endsWith('token') || isToken(sample) === isToken(answer)
const isToken = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** Names that a JSON sample has and the answer has not, or has of another type or with other words. */
function differences(sample: unknown, answer: unknown, place = ''): string[] {
  if (Array.isArray(sample))
    return Array.isArray(answer)
      ? sample.flatMap((item, i) => differences(item, answer[i], `${place}[${i}]`))
      : [place]
  if (typeof sample === 'object' && sample !== null)
    return typeof answer === 'object' && answer !== null
      ? Object.entries(sample).flatMap(([name, value]) =>
          differences(value, (answer as Record<string, unknown>)[name], `${place}.${name}`),
        )
      : [place]
  if (typeof sample === 'string' && typeof answer === 'string')
    return isLike(sample, answer, place) ? [] : [`${place} is ${JSON.stringify(answer)}`]
  return typeof sample === typeof answer ? [] : [place]
}

describe('the guides', () => {
  test('are the files of docs/guides, all of them', () => {
    expect(readdirSync(guidesDirectory).sort()).toEqual(guideNames.map(name => `${name}.md`).sort())
  })

  test('have only blocks that something here checks', () => {
    const checked = ['sh', 'json', 'toml', ...Object.keys(runners)]
    expect(blocks.filter(({ language }) => !checked.includes(language))).toEqual([])
    for (const guide of guideNames) {
      const fences = readFileSync(join(guidesDirectory, `${guide}.md`), 'utf8').match(/^```/gm)
      expect(fences!.length, guide).toBe(2 * blocksOf(guide).length)
    }
  })

  test('are rendered without a script, a style or Markdown that is left over', () => {
    for (const { name, parts, headings } of guides) {
      const html = parts.flatMap(part => ('html' in part ? [part.html] : [])).join('')
      expect(html, name).not.toMatch(/<script|<style|\sstyle=|\son\w+=|```|\]\(|\*\*/)
      expect(new Set(headings.map(({ id }) => id)).size, name).toBe(headings.length)
      for (const { id } of headings) expect(html, name).toContain(`id="${id}"`)
    }
  })

  test('link only to pages, calls and headings that there are', async () => {
    const instance = demoInstance(undefined, {})
    const document = (await (await instance.ask('GET', '/openapi.json')).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>
    }
    instance.remove()
    const operations = new Set(
      Object.values(document.paths).flatMap(methods =>
        Object.values(methods).map(({ operationId }) => operationId),
      ),
    )
    const pages = pagePaths.map(path => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`))
    const linked: string[] = []
    const broken: string[] = []
    for (const { name, about, parts } of guides) {
      const html = about + parts.map(part => ('html' in part ? part.html : '')).join('')
      for (const [, href] of html.matchAll(/href="([^"]*)"/g)) {
        linked.push(href!)
        if (href === 'https://www.standardwebhooks.com') continue
        const url = new URL(href!, `http://copy/docs/${name}`)
        const guide = /^\/docs\/(.+)$/.exec(url.pathname)?.[1]
        const target = guides.find(({ name }) => name === guide)
        const operation = url.searchParams.get('operation')
        const isThere =
          url.host === 'copy' &&
          pages.some(page => page.test(url.pathname)) &&
          (guide === undefined || target !== undefined) &&
          (operation === null || operations.has(operation)) &&
          (url.hash === '' || target?.headings.some(({ id }) => `#${id}` === url.hash))
        if (!isThere) broken.push(`${name}: ${href}`)
      }
    }
    expect(broken).toEqual([])
    expect(linked.length).toBeGreaterThan(80)
  })

  test('the guides name only API paths that exist', async () => {
    const instance = demoInstance(undefined, {})
    const { paths } = (await (await instance.ask('GET', '/openapi.json')).json()) as {
      paths: Record<string, unknown>
    }
    instance.remove()
    const shapeOf = (path: string) => path.replaceAll(/\{\w+\}/g, '{}')
    const shapes = new Set(Object.keys(paths).map(shapeOf))
    const named = guideNames.flatMap(guide =>
      [
        ...readFileSync(join(guidesDirectory, `${guide}.md`), 'utf8').matchAll(
          /`(?:GET |POST |PATCH |PUT |DELETE )?(\/v1\/[^`?\s]+)/g,
        ),
      ].map(match => match[1]!),
    )
    expect(named.filter(path => !shapes.has(shapeOf(path)))).toEqual([])
    expect(named.length).toBeGreaterThan(10)
  })

  test('the configurations in the guides are valid', () => {
    const configurations = blocks.filter(({ language }) => language === 'toml')
    expect(configurations.length).toBeGreaterThan(1)
    for (const { guide, text } of configurations) {
      expect(Object.keys(parseToml(text)).length, guide).toBeGreaterThan(0)
      loadConfig({
        mode: 'serve',
        flags: {},
        env: {},
        files: { explicit: '/data/wellhead.toml', directory: '/data' },
        readFile: path => (path === '/data/wellhead.toml' ? text : undefined),
      })
    }
  })
})

describe('the samples of the guides run as they stand', () => {
  let stage: ReturnType<typeof served>
  let directory: string
  beforeAll(() => {
    stage = served()
    directory = mkdtempSync(join(tmpdir(), 'wellhead-guides-'))
  }, 60_000)
  afterAll(async () => {
    await stage.server.stop(true)
    stage.instance.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  /** In place of the program on the path: the same from source; a server that is started stays until a restore or the end of the shell. */
  const prelude = `
set -euo pipefail
curl() { command curl -sS --max-time 60 -w '%{stderr}status %{http_code}\\n' "$@"; }
wellhead() {
  if [ "$1" = restore ]; then kill $served; wait $served || true; fi
  if [ "$1" != serve ]; then '${process.execPath}' '${join(root, 'src/main.ts')}' "$@"; return; fi
  '${process.execPath}' '${join(root, 'src/main.ts')}' "$@" --port 0 > served.log 2>&1 &
  served=$!
  trap '{ kill $served && wait $served; } 2> /dev/null || true' EXIT
  until [ -S ./data/wellhead.sock ]; do kill -0 $served || { cat served.log >&2; exit 1; }; sleep 0.05; done
}
`

  for (const guide of guideNames) {
    const shell = blocksOf(guide).filter(({ language }) => language === 'sh')
    if (shell.length > 0)
      needs('bash', 'curl').test(
        `in a shell: ${guide}`,
        async () => {
          const cwd = join(directory, guide)
          mkdirSync(cwd)
          // The default directory of somebody who has followed the first guide.
          emptyDirectory(join(cwd, 'wellhead-data'))
          // One shell for a guide: what a block made is there for the next. Each one's output apart.
          const script = shell
            .map(
              ({ text }, i) =>
                `{\n${filled(text, stage.origin, stage.instance.apiKey)}} > out.${i} 2> err.${i}`,
            )
            .join('\n')
          const { code, err } = await run(['bash', '-c', `${prelude}${script}`], cwd, {
            WELLHEAD_LOG_LEVEL: 'error',
          })
          const text = (name: string) => {
            try {
              return readFileSync(join(cwd, name), 'utf8')
            } catch {
              return ''
            }
          }
          const told = shell.map((_, i) => text(`err.${i}`)).join('')
          expect(code, `${err}${told}`).toBe(0)
          const all = blocksOf(guide)
          for (const [i, block] of shell.entries()) {
            const place = `docs/guides/${guide}.md:${block.line}`
            const statuses = [...text(`err.${i}`).matchAll(/^status (\d+)$/gm)].map(
              match => match[1]!,
            )
            expect(
              statuses.length,
              `${place} makes its calls: ${text(`err.${i}`)}`,
            ).toBeGreaterThanOrEqual(block.text.includes('curl ') ? 1 : 0)
            for (const status of statuses)
              expect(status, `${place}: ${text(`out.${i}`)}`).toMatch(
                block.answers === undefined ? /^(2..|304)$/ : new RegExp(block.answers),
              )
            // The answer that the guide shows below it has these names, of these types.
            const rest = all.slice(all.indexOf(all.find(other => other.line === block.line)!) + 1)
            const next = rest.find(({ language }) => language === 'json' || language === 'sh')
            if (next?.language !== 'json') continue
            const body = text(`out.${i}`).replace(/^HTTP[\s\S]*?\r\n\r\n/, '')
            expect(differences(JSON.parse(next.text), JSON.parse(body)), place).toEqual([])
          }
        },
        120_000,
      )
  }

  for (const [language, { file, command, needed }] of Object.entries(runners)) {
    const programs = blocks.filter(
      block => block.language === language && !block.text.includes('WEBHOOK_SECRET'),
    )
    for (const { guide, line, text } of programs) {
      needs(...needed).test(
        `in ${language}: ${guide}, line ${line}`,
        async () => {
          // The sample of webhooks asks for the endpoint that the one before it made.
          if (guide === 'webhooks')
            await stage.instance.ask('POST', '/v1/webhooks', {
              body: { url: 'http://127.0.0.1:9/hook', events: ['price.updated'] },
            })
          const cwd = join(directory, `${guide}-${line}-${language}`)
          mkdirSync(cwd)
          writeFileSync(join(cwd, file), filled(text, stage.origin, stage.instance.apiKey))
          const { code, out, err } = await run(command, cwd)
          expect(code, `${out}${err}`).toBe(0)
          expect(err).toBe('')
        },
        120_000,
      )
    }
  }
})

/** A port that was free a moment ago. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

describe('the receivers of the guide on webhooks tell our events from forged ones', () => {
  let stage: ReturnType<typeof served>
  beforeAll(() => {
    // By the clock of now: the receivers refuse what was signed at another time.
    stage = served(Date.now())
  }, 60_000)
  afterAll(async () => {
    await stage.server.stop(true)
    stage.instance.remove()
  })

  const withSecret = blocks.filter(({ text }) => text.includes('WEBHOOK_SECRET'))
  const receivers = withSecret.filter(({ language }) => language !== 'sh')

  test('the webhook guide says to set WEBHOOK_SECRET before the first receiver that reads it', () => {
    expect(withSecret[0]!.language).toBe('sh')
    expect(withSecret[0]!.text).toMatch(/^export WEBHOOK_SECRET=whsec_\w+$/m)
  })

  test('in four languages', () => {
    expect(receivers.map(({ language }) => language)).toEqual(['python', 'ts', 'go', 'php'])
  })

  for (const { language, text } of receivers) {
    const { file, command, needed } = runners[language]!
    needs(...needed).test(
      language,
      async () => {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/hook`
        const made = await stage.instance.ask('POST', '/v1/webhooks', {
          body: { url, events: ['price.updated'] },
        })
        const { data: endpoint } = (await made.json()) as { data: { id: string; secret: string } }
        const cwd = mkdtempSync(join(tmpdir(), 'wellhead-receiver-'))
        writeFileSync(join(cwd, file), text.replaceAll('9000', String(port)))
        const own = command.map(word => word.replace('9000', String(port)))
        const isCompiled = language === 'go'
        const env = {
          PATH: process.env.PATH!,
          HOME: cwd,
          WEBHOOK_SECRET: endpoint.secret,
        }
        if (isCompiled) {
          const built = await run(['go', 'build', '-o', 'receiver', file], cwd, {
            GOFLAGS: '-modcacherw',
            // Its own cache is kept between runs: the standard library is compiled once.
            GOCACHE: join(tmpdir(), 'wellhead-guides-go'),
          })
          expect(built.code, built.err).toBe(0)
        }
        const child = Bun.spawn(isCompiled ? ['./receiver'] : own, {
          cwd,
          env,
          stdout: 'ignore',
          stderr: 'ignore',
        })
        try {
          const post = async (body: string, timestamp: string, signature: string) => {
            const answer = await fetch(url, {
              method: 'POST',
              body,
              headers: {
                'x-service-signature-timestamp': timestamp,
                'x-service-signature': signature,
              },
            })
            return answer.status
          }
          // It listens as soon as it refuses what nobody has signed.
          const isListening = async () => {
            try {
              return (await post('{}', '0', '')) === 401
            } catch {
              return false
            }
          }
          await until(`the receiver in ${language} listens`, () => {
            expect(child.exitCode, `${language} ended before it listened`).toBeNull()
            return isListening()
          })
          const tested = await stage.instance.ask('POST', `/v1/webhooks/${endpoint.id}/test`, {
            body: {},
          })
          const { data } = (await tested.json()) as { data: Record<string, unknown> }
          expect(data).toMatchObject({ status: 'delivered', status_code: 204 })

          const seconds = Math.floor(Date.now() / 1000)
          const signed = (secret: string, at: number, body = '{}') =>
            timestampedSignature(secret, body, at)
          expect(await post('{}', String(seconds), signed(endpoint.secret, seconds))).toBe(204)
          expect(await post('{ }', String(seconds), signed(endpoint.secret, seconds))).toBe(401)
          expect(await post('{}', String(seconds), signed('whsec_another', seconds))).toBe(401)
          const old = seconds - 301
          expect(await post('{}', String(old), signed(endpoint.secret, old))).toBe(401)
          expect(await post('{}', String(seconds), signed(endpoint.secret, old))).toBe(401)
          expect(await post('{}', 'now', signed(endpoint.secret, seconds))).toBe(401)
        } finally {
          child.kill()
          await child.exited
          rmSync(cwd, { recursive: true, force: true })
        }
      },
      240_000,
    )
  }
})

test('the samples are written for a place that the pages replace', () => {
  for (const { guide, language, text } of blocks) {
    if (language === 'json' || language === 'toml') continue
    const shown = filled(text, 'https://prices.example.com', 'f00d')
    expect(shown.includes(sampleOrigin) || shown.includes(sampleKey), guide).toBe(false)
    if (text.includes('/v1/') && !text.includes('/v1/demo') && !text.includes('/v1/sources'))
      expect(shown, guide).toMatch(/https:\/\/prices\.example\.com[\s\S]*f00d|f00d/)
  }
})
