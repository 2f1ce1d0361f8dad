import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import manifest from '../package.json'
import { feedNames } from '../src/config/keys.ts'

const root = resolve(import.meta.dir, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const readme = read('README.md')

describe('README.md', () => {
  test('says in its first screen what it is, for whom, instead of what, and what it is not for', () => {
    const screen = readme.slice(0, readme.indexOf('\n![')).split('\n')
    expect(screen.length).toBeLessThanOrEqual(20)
    for (const part of ['self-hosted', 'For a desk', 'Instead of', 'Not for', 'Proof'])
      expect(screen.join('\n').toLowerCase()).toContain(part.toLowerCase())
  })

  test('README.md names publishers that are read, and fewer feeds than there are', () => {
    const [, feedsMin, names] = /more than (\d+) public feeds\]\([^)]+\) \(([^)]+)\)/.exec(readme)!
    expect(feedNames.length).toBeGreaterThan(Number(feedsMin))
    const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
    const isRead = (name: string) => feedNames.some(feed => plain(feed).startsWith(plain(name)))
    expect(names!.split(', ').filter(name => !isRead(name))).toEqual([])
  })

  test('README.md names what else the product has', () => {
    for (const feature of [
      'undo',
      '`as_of`',
      'Parquet',
      'DuckDB',
      'MCP',
      'SDKs',
      'command line',
      'Excel',
      'Google Sheets',
      'status page',
      'S3',
      'failover',
      'review',
      'audit trail',
      'Stripe',
      'formula',
      'delivery period',
      'every change from a cursor',
      'Grafana',
      'charting libraries',
      'OpenID Connect',
    ])
      expect(readme).toContain(feature)
  })

  test('proves with figures that the linked pages have', () => {
    expect(read('docs/explanation/reliability.md')).toMatch(/200 kills .*0 lost/)
    expect(readme).toContain('61,337 newest prices of random codes a second')
    expect(read('docs/reference/sizing.md')).toContain('| 61,337 requests a second |')
    const rules = read('docs/reference/validation-rules.md')
    const certain = rules.slice(0, rules.indexOf('cannot be distinguished from a real move'))
    const held = [...certain.matchAll(/^\| [^|]*(?:[×÷]|sign|zero)[^|]* \| ([\d.]+)% \|/gm)].map(
      match => Number(match[1]),
    )
    expect(held.length).toBeGreaterThan(15)
    expect(Math.min(...held)).toBe(98.6)
    expect(rules).toContain('1 in 34,299')
  })

  test('says what the commands from source need, how long they take and how much disk', () => {
    expect(readme).toMatch(/need git and Node\.js 18 or later \(the examples also use `curl`\)/)
    expect(readme).toMatch(/about a minute, 400 MB on disk; 740 MB with caches/)
    const contributing = read('docs/contributing/README.md')
    const [, time, memory] = /takes ([^,]+), and (up to \d+ GB of memory)/.exec(contributing)!
    expect(readme).toMatch(new RegExp(`run test +# the tests: ${time}, ${memory}\n`))
    expect(readme).toMatch(/If the port is taken, add `--port/)
  })

  test('shows a picture that is small, and has no link that leads nowhere', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(match => match[1]!)
    const local = links.filter(link => !/^https?:/.test(link))
    expect(local.filter(link => !existsSync(join(root, link)))).toEqual([])
    expect(statSync(join(root, 'docs/images/series.png')).size).toBeLessThan(300_000)
  })
})

describe('CHANGELOG.md', () => {
  const sections = read('CHANGELOG.md').split(/^## /m).slice(1)

  test('has the current version first, upgrade notes first in it, and one short sentence or two an entry', () => {
    expect(sections[0]).toStartWith(`[${manifest.version}] – `)
    expect(/^### (.+)$/m.exec(sections[0]!)![1]).toBe('Upgrade notes')
    for (const section of sections) {
      // With a lower limit of entries, new sentences were appended to old entries, and the upgrade
      // notes became paragraphs in which readers did not find what they had to do.
      const entries = section.split('\n').filter(line => line.startsWith('- '))
      expect(entries.length, section.slice(0, 20)).toBeLessThanOrEqual(75)
      const [, acting = ''] = /^### Upgrade notes\n([\s\S]*?)^### /m.exec(section) ?? []
      const notes = acting.split('\n').filter(line => line.startsWith('- '))
      expect(notes.length).toBeLessThanOrEqual(20)
      expect(entries.filter(entry => entry.length > 330)).toEqual([])
      expect(notes.filter(note => note.length > 160)).toEqual([])
    }
  })

  test('uses the headings of Keep a Changelog', () => {
    const known = [
      'Upgrade notes',
      'Added',
      'Changed',
      'Deprecated',
      'Removed',
      'Fixed',
      'Security',
    ]
    const used = sections.flatMap(section => [...section.matchAll(/^### (.+)$/gm)].map(m => m[1]!))
    expect(used.filter(heading => !known.includes(heading))).toEqual([])
  })
})

/** Every page of the documentation, by its path. */
const pages = new Map(
  ['README.md', ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })]
    .map(name => (name === 'README.md' ? name : `docs/${name}`))
    .filter(name => name.endsWith('.md'))
    .map(name => [name, read(name)]),
)

describe('the documentation', () => {
  test('names the source in every command that imports prices, so that every value is attributed to its source', () => {
    const unnamed: string[] = []
    let named = 0
    for (const [name, text] of pages)
      for (const [, block] of text.matchAll(/```\w*[^\n]*\n([\s\S]*?)```/g))
        for (const command of block!.replaceAll(/\\\n\s*/g, '').split('\n')) {
          if (
            !/(?<!from )\bwellhead import\b/.test(command) ||
            /--(dataset|create)\b/.test(command)
          )
            continue
          if (command.includes('--source')) named += 1
          else unnamed.push(`${name}: ${command}`)
        }
    expect(unnamed).toEqual([])
    expect(named).toBeGreaterThan(10)
  })

  test('says where the Debian package comes from wherever it is installed', () => {
    const installing = [...pages].filter(([, text]) => text.includes('apt install ./wellhead_'))
    expect(installing.length).toBeGreaterThan(1)
    for (const [name, text] of installing)
      expect({ name, text }).toEqual({
        name,
        text: expect.stringMatching(
          /curl -fLO https:\/\/\S+\.deb|\(install\.md#debian-and-ubuntu\)/,
        ),
      })
    expect(read('docs/releasing.md')).toContain('run release')
  })
})
