import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf, pages } from './support/docs.ts'

const root = join(import.meta.dir, '..')

/**
 * The fifteen tasks that a new user was given, each with its page. The samples of a page are run by
 * `test/e2e/documents/docs-walk.test.ts`; where none of them can run here, the test that plays the
 * same steps against a stand-in is named.
 */
const tasks: readonly { task: string; page: string; playedBy?: string }[] = [
  { task: 'start a demo instance and read a price', page: 'tutorials/quickstart' },
  { task: 'run in production behind TLS', page: 'how-to/production' },
  { task: 'connect EIA', page: 'how-to/eia' },
  { task: 'load your own prices', page: 'how-to/own-prices' },
  { task: 'give a customer a key with a plan', page: 'how-to/customers' },
  {
    task: 'sell plans with Stripe',
    page: 'how-to/stripe',
    playedBy: 'test/topics/billing/service/stripe.test.ts',
  },
  { task: 'back up and restore', page: 'how-to/backups' },
  { task: 'upgrade and roll back', page: 'how-to/upgrading' },
  { task: 'monitor', page: 'how-to/operating' },
  { task: 'backtest with what was known, in pandas', page: 'tutorials/backtest' },
  { task: 'verify a webhook', page: 'how-to/webhooks' },
  { task: 'migrate an existing client', page: 'how-to/migrate-a-client' },
  { task: 'show a demo instance to a customer', page: 'how-to/demo-for-a-customer' },
  { task: 'test in continuous integration', page: 'how-to/ci' },
  {
    task: 'scale to replicas',
    page: 'how-to/replicas',
    playedBy: 'test/e2e/replication/replicas.test.ts',
  },
]

describe('a new user completes each of the fifteen tasks with the documentation alone', () => {
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8')

  test.each(tasks)('$task: the page is in the index, and its samples are run', one => {
    const { page, playedBy } = one
    expect(index).toContain(`(${page}.md)`)
    const source = pages.find(({ file }) => file === `docs/${page}.md`)!
    const samples = blocksOf(source).filter(({ language }) =>
      ['sh', 'python', 'ts'].includes(language),
    )
    const run = samples.filter(({ options }) => options.shown === undefined)
    if (playedBy === undefined) expect(run.length).toBeGreaterThan(0)
    else
      expect({ run: run.length, exists: existsSync(join(root, playedBy)) }).toEqual({
        run: 0,
        exists: true,
      })
  })

  test('the list of tasks of a new user has fifteen', () => {
    expect(tasks).toHaveLength(15)
  })
})
