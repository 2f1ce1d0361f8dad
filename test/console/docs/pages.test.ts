import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { loadConfig } from '../../../src/config/config.ts'
import { configKeys } from '../../../src/config/keys.ts'
import { filled, sampleKey, sampleOrigin } from '../../../src/console/guides/guide.ts'
import { repository } from '../../../src/console/guides/sources.ts'
import { pagePaths } from '../../../src/console/paths.ts'
import { problems } from '../../../src/http/problem/problem.ts'
import { eventTypes } from '../../../src/plans/messages/event-types.ts'
import { features } from '../../../src/plans/tiers.ts'
import { version } from '../../../src/version.ts'
import { blocksOf, pages, renderedPages, wholeText } from '../../support/docs.ts'
import { demoInstance } from '../../support/instance/demo-instance.ts'

const { pages: rendered, attached } = renderedPages()
const blocks = pages.flatMap(blocksOf)
const isOurs = ({ file }: { file: string }) => file.startsWith('docs/')

const markdownBelow = (folder: string): string[] =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `${folder}/${name}`)

describe('the documentation', () => {
  test('serves every page of docs/, and reaches each of them from its index', () => {
    const served = pages.filter(isOurs).map(({ file }) => file)
    expect(served.toSorted()).toEqual(markdownBelow('docs').toSorted())
  })

  test('says in the repository where to read each part that is generated, and shows the part instead elsewhere', () => {
    const unnamed: string[] = []
    for (const { file, name } of pages) {
      const source = readFileSync(join(repository, file), 'utf8')
      for (const [mark, quote] of source.matchAll(/^<!-- generated: .*(?:\n(> .*))?/gm))
        if (!quote?.includes(`Read it at \`/docs/${name}\` of a running instance`))
          unnamed.push(`${file}: ${mark}`)
    }
    expect(unnamed).toEqual([])
    for (const page of rendered) expect(page.markdown).not.toContain('is not in the repository')
  })

  test('has an index without a link that leads nowhere', () => {
    const index = readFileSync(join(repository, 'docs/README.md'), 'utf8')
    const links = [...index.matchAll(/\]\(([^)]+)\)/g)].map(match => match[1]!)
    expect(links.filter(link => !existsSync(join(repository, 'docs', link)))).toEqual([])
    expect(links.length).toBeGreaterThan(75)
  })

  test('has pages with a title and a first paragraph that says what they are for', () => {
    const work = 'Work on Wellhead'
    for (const { file, section, title, about } of rendered) {
      expect(title, file).not.toBe('')
      if (section !== work) expect(about, file).not.toBe('')
    }
  })

  test('is rendered without a script, a style or Markdown that is left over', () => {
    for (const { file, parts, headings } of rendered) {
      const html = parts.flatMap(part => ('html' in part ? [part.html] : [])).join('')
      const text = html.replaceAll(/<(code|pre)[^>]*>[\s\S]*?<\/\1>/g, '')
      expect(text, file).not.toMatch(/<script|<style|\sstyle=|\son\w+=|```|\]\(|\*\*|<!--/)
      const ids = headings.map(({ id }) => id)
      expect(
        ids.filter((id, i) => ids.indexOf(id) !== i),
        file,
      ).toEqual([])
    }
  })

  test('links only to pages, operations, headings and files that exist', async () => {
    const instance = demoInstance()
    const document = (await (await instance.ask('GET', '/openapi.json')).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>
    }
    instance.remove()
    const operations = new Set(
      Object.values(document.paths).flatMap(methods =>
        Object.values(methods).map(({ operationId }) => operationId),
      ),
    )
    const consolePages = pagePaths.map(path => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`))
    const files = new Set(attached.map(({ name }) => `/console/${name}`))
    const broken: string[] = []
    for (const { name, file, about, parts } of rendered) {
      const html = about + parts.map(part => ('html' in part ? part.html : '')).join('')
      for (const [, href] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (/^(https?|mailto):/.test(href!)) continue
        const url = new URL(href!, `http://instance/docs/${name}`)
        const page = /^\/docs\/(.+)$/.exec(url.pathname)?.[1]
        const target = rendered.find(other => other.name === page)
        const operation = url.searchParams.get('operation')
        const isRight =
          files.has(url.pathname) ||
          (consolePages.some(pattern => pattern.test(url.pathname)) &&
            (page === undefined || target !== undefined) &&
            (operation === null || operations.has(operation)) &&
            (url.hash === '' || target?.headings.some(({ id }) => `#${id}` === url.hash)))
        if (!isRight) broken.push(`${file}: ${href}`)
      }
    }
    expect(broken).toEqual([])
  }, 60_000)

  test('links in its Markdown only to files that exist, also to those that no page shows', () => {
    const broken = pages.filter(isOurs).flatMap(({ file }) => {
      const text = readFileSync(join(repository, file), 'utf8').replaceAll(
        /^ *```[\s\S]*?^ *```$/gm,
        '',
      )
      return [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(match => match[1]!)
        .filter(href => !/^(https?:|mailto:|\/)/.test(href))
        .filter(href => !existsSync(join(repository, file, '..', href)))
        .map(href => `${file}: ${href}`)
    })
    expect(broken).toEqual([])
  })

  test('names only paths of the API that exist', async () => {
    const instance = demoInstance()
    const { paths } = (await (await instance.ask('GET', '/openapi.json')).json()) as {
      paths: Record<string, unknown>
    }
    instance.remove()
    const shapeOf = (path: string) => path.replaceAll(/\{\w+\}|\bID\b/g, '{}')
    const shapes = [...Object.keys(paths).map(shapeOf)]
    const named = pages
      .filter(({ file, section }) => isOurs({ file }) && section !== 'Work on Wellhead')
      .flatMap(({ file }) =>
        [
          ...readFileSync(join(repository, file), 'utf8').matchAll(
            /`(?:GET |POST |PATCH |PUT |DELETE )?(\/(?:v1|admin\/v1)\/[^`?\s]+)/g,
          ),
        ].map(match => ({ file, path: match[1]! })),
      )
    const isThere = (path: string) =>
      path.endsWith('*')
        ? shapes.some(shape => shape.startsWith(path.slice(0, -1)))
        : shapes.some(shape => shape === shapeOf(path) || shape.startsWith(`${shapeOf(path)}/`))
    expect(named.filter(({ path }) => !isThere(path))).toEqual([])
    expect(named.length).toBeGreaterThan(60)
  }, 60_000)

  test('shows only configurations that an instance starts with', () => {
    const configurations = blocks.filter(
      ({ language, options }) => language === 'toml' && options.plans === undefined,
    )
    expect(configurations.length).toBeGreaterThan(12)
    for (const { page, line, text } of configurations) {
      const place = `${page.file}:${line}`
      expect(Object.keys(parseToml(text)).length, place).toBeGreaterThan(0)
      const load = () =>
        loadConfig({
          mode: 'serve',
          flags: {},
          env: {},
          files: { explicit: '/data/wellhead.toml', directory: '/data' },
          readFile: path => (path === '/data/wellhead.toml' ? text : ''),
        })
      expect(load, place).not.toThrow()
    }
  })

  test('has samples that are written for a place that the pages replace', () => {
    for (const { page, text } of blocks.filter(({ language }) =>
      ['sh', 'ts', 'python'].includes(language),
    )) {
      const shown = filled(text, 'https://prices.example.com', 'f00d')
      expect(shown.includes(sampleOrigin) || shown.includes(sampleKey), page.file).toBe(false)
    }
  })
})

describe('the pages that definitions fill', () => {
  const textOf = (name: string) => wholeText(pages.find(page => page.name === name)!)
  const feedSetting = /^feeds\.(?!enabled|contact|prefer)\w+\./

  test('name every setting with its variable', () => {
    const text = textOf('settings')
    const missing = Object.keys(configKeys).filter(
      key => !text.includes(`\`${key.replace(feedSetting, 'feeds.NAME.')}\``),
    )
    expect(missing).toEqual([])
  })

  test('name every event with a payload, every error code with a remedy and every feature', () => {
    const events = textOf('webhook-events')
    for (const type of eventTypes) expect(events).toContain(`## ${type}\n`)
    expect(events.match(/```json/g)!.length).toBe(eventTypes.length)
    const errors = textOf('error-codes')
    for (const [code, { status }] of Object.entries(problems))
      expect(errors).toMatch(new RegExp(`^\\| \`${code}\` \\| ${status} \\|.* \\| .+ \\|$`, 'm'))
    for (const feature of features) expect(textOf('plan-limits')).toContain(`\`${feature}\``)
  })

  test('name every family of metrics', () => {
    const source = readFileSync(
      join(repository, 'src/topics/operator/operations/system/metric-families.ts'),
      'utf8',
    )
    const families = [...source.matchAll(/'(wellhead_\w+)'/g)].map(match => match[1]!)
    // A row names families that differ only in their ending by that ending.
    const text = textOf('metrics').replaceAll(
      /`(wellhead_\w+)`((?:, `_\w+`)+)/g,
      (_, first: string, endings: string) =>
        [
          first,
          ...endings
            .split(', ')
            .slice(1)
            .map(ending => endingOf(first, ending.slice(1, -1))),
        ].join(' '),
    )
    expect(families.filter(name => !text.includes(name))).toEqual([])
    expect(families.length).toBeGreaterThan(30)
  })
})

/** `wellhead_feed_state` with the ending `_late` is `wellhead_feed_late`. */
const endingOf = (first: string, ending: string): string => first.replace(/_[a-z]+$/, ending)

describe('the sentences of the documentation', () => {
  /** Prose without code, tables, links and headings. */
  const proseOf = (text: string): string =>
    text
      .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
      .replaceAll(/<!--[\s\S]*?-->/g, '')
      .replaceAll(/^(\||#|!\[).*$/gm, '\n')
      .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
      .replaceAll(/`[^`]*`/g, 'code')
  const sentences = pages
    .filter(page => isOurs(page) && page.section !== 'Work on Wellhead')
    .flatMap(({ file }) =>
      proseOf(readFileSync(join(repository, file), 'utf8'))
        .split(/\n\s*\n|\n\s*(?:[-*]|\d+\.) /)
        .map(paragraph => paragraph.replaceAll(/\s+/g, ' ').trim())
        .flatMap(paragraph => paragraph.split(/(?<=[.!?:])\s+(?=[A-Z`*"])/))
        .map(sentence => ({ file, sentence, words: sentence.split(' ').length }))
        .filter(({ words }) => words > 2),
    )

  test('have a median of at most 16 words, and under 3% have more than 35', () => {
    const lengths = sentences.map(({ words }) => words).toSorted((a, b) => a - b)
    const long = sentences.filter(({ words }) => words > 35)
    expect(lengths.length).toBeGreaterThan(800)
    expect(lengths[Math.floor(lengths.length / 2)]!).toBeLessThanOrEqual(16)
    expect(
      long.length / lengths.length,
      long.map(({ file, sentence }) => `${file}: ${sentence}`).join('\n'),
    ).toBeLessThan(0.03)
  })
})

test('every address of a release has the host of the installer and the current version', () => {
  const texts = [
    'README.md',
    'Dockerfile',
    ...markdownBelow('docs'),
    ...readdirSync(join(repository, 'packaging'), { recursive: true, encoding: 'utf8' })
      .map(name => `packaging/${name}`)
      .filter(path => /\.\w+$/.test(path)),
  ].map(path => ({ path, text: readFileSync(join(repository, path), 'utf8') }))
  const installer = readFileSync(join(repository, 'packaging/install.sh'), 'utf8')
  const releasesUrl = /WELLHEAD_RELEASES:-(https:[^}]+)\}/.exec(installer)![1]!
  const host = new URL(releasesUrl).host
  for (const { path, text } of texts)
    for (const [address] of text.matchAll(
      new RegExp(`https?://${host.replaceAll('.', '\\.')}[^\\s\`)}'"]*`, 'g'),
    ))
      expect(address, path).toEqual(
        expect.stringMatching(new RegExp(`^${releasesUrl}(/(${version}|apt|\\$).*|/)?$`)),
      )
  expect(texts.filter(({ text }) => text.includes(releasesUrl)).length).toBeGreaterThan(3)
})
