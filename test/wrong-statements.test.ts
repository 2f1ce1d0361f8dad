import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problems } from '../src/http/problem/problem.ts'
import { pages, wholeText } from './support/docs.ts'

const root = join(import.meta.dir, '..')
const documentation = pages
  .filter(({ file }) => file.startsWith('docs/'))
  .map(page => ({ file: page.file, text: wholeText(page) }))
const filesWith = (pattern: RegExp) =>
  documentation.filter(({ text }) => pattern.test(text)).map(({ file }) => file)

/** Statements that the documentation once had and that were wrong, each with the test of its truth. */
const heldElsewhere: readonly { statement: string; file: string; title: string }[] = [
  {
    statement: 'a restore into a directory that does not exist succeeds',
    file: 'test/support/language/mistakes-cli.ts',
    title: 'a directory that does not exist',
  },
  {
    statement: 'waiting messages are sent or held after a restore',
    file: 'test/cli/backups/restore-outbox.test.ts',
    title: 'a default restore holds pending messages',
  },
  {
    statement: 'wellhead migrate works without an option',
    file: 'test/cli/json.test.ts',
    title: 'verify, backup, migrate and restore print what they did',
  },
  {
    statement: 'the exposure level of the systemd unit',
    file: 'test/e2e/documents/package.test.ts',
    title: 'gets the systemd-analyze exposure level that its documentation states',
  },
  {
    statement: 'the figures of sizing are those of the bench',
    file: 'test/sizing.test.ts',
    title: 'has a figure for requests, pages, imports',
  },
  {
    statement: 'receivers of webhooks read a variable that the page does not set',
    file: 'test/console/docs/receivers.test.ts',
    title: 'the guide sets WEBHOOK_SECRET before the first receiver',
  },
  {
    statement: 'unknown parameters are documented nowhere',
    file: 'test/guards/ignored-parameters.test.ts',
    title: 'documents the header that names unknown ones, and sends it',
  },
  {
    statement: 'an import without --source',
    file: 'test/readme.test.ts',
    title: 'names the source in every command that imports prices',
  },
  {
    statement: 'webhooks report corrections of the newest price',
    file: 'test/topics/webhooks/service/price-events.test.ts',
    title: 'a correction of a value sends no price event',
  },
]

describe('a statement that was wrong once', () => {
  test.each(heldElsewhere)('$statement: is held by a test', ({ file, title }) => {
    expect(readFileSync(join(root, file), 'utf8')).toContain(title)
  })

  test('every restore and migration of the documentation names its data directory', () => {
    const commands = documentation.flatMap(({ text }) =>
      [...text.matchAll(/(?<=`|^ *(?:sudo )?)wellhead (?:restore|migrate) [^`\n]+/gm)].map(
        ([command]) => command,
      ),
    )
    expect(commands.filter(command => !/--data|\[file\]/.test(command))).toEqual([])
    expect(commands.length).toBeGreaterThan(5)
  })

  test('no import of a dataset has an option that is for prices', () => {
    const commands = documentation.flatMap(({ text }) =>
      [...text.replaceAll(/\\\n/g, ' ').matchAll(/wellhead import [^`|\n]*/g)].map(
        ([command]) => command,
      ),
    )
    const ofDatasets = commands.filter(command => command.includes('--dataset '))
    expect(ofDatasets.filter(command => /--(?:series|scale|time|source)\b/.test(command))).toEqual(
      [],
    )
    expect(ofDatasets.length).toBeGreaterThan(5)
  })

  test('the files of a data directory have their present names', () => {
    expect(filesWith(/wellhead\.db-pages|`keys\.json`/)).toEqual([])
    const files = readFileSync(join(root, 'docs/reference/files.md'), 'utf8')
    for (const name of ['wellhead.db-checksums', 'evaluation-keys.json', 'lock'])
      expect(files).toContain(`\`${name}`)
  })

  test('every error code of the incidents and of handling errors exists', () => {
    for (const file of ['docs/how-to/incidents.md', 'docs/how-to/errors.md']) {
      const text = readFileSync(join(root, file), 'utf8')
      const codes = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code!)
      const unknown = codes.filter(
        code => !Object.hasOwn(problems, code) && !/^(?:WELLHEAD|YOUR)_|_USD$/.test(code),
      )
      expect({ file, unknown }).toEqual({ file, unknown: [] })
    }
  })

  test('no page names another port for the server than 8470', () => {
    expect(filesWith(/:8080\b/)).toEqual([])
  })

  test('plans have one name: the tier words are explained once and used nowhere else', () => {
    expect(filesWith(/Reservoir Mastery|Production Boost/)).toEqual([
      'docs/reference/plan-limits.md',
      'docs/explanation/limits.md',
    ])
  })

  test('the guide and the reference agree on what to branch on', () => {
    const guide = readFileSync(join(root, 'docs/how-to/errors.md'), 'utf8')
    const reference = readFileSync(join(root, 'src/http/openapi/introduction.ts'), 'utf8')
    for (const text of [guide, reference]) expect(text).toMatch(/Branch on the HTTP status first/)
  })

  test('no sample body has a placeholder for what the server sends', () => {
    expect(
      filesWith(/"(?:what is wrong, in a sentence|which words there are|[^"]*shown once)"/),
    ).toEqual([])
  })
})
