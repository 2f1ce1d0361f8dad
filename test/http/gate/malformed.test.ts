import { expect, test } from 'bun:test'
import { openTestInstance } from '../../support/instance/instance.ts'
import { interfaceRows } from '../../support/interface/interface.ts'

test('every heavy operation refuses a malformed page or moment, so that no worker is needed for it', async () => {
  const at = openTestInstance({
    'limits.per_minute': '1000000',
    'limits.marine_historical_per_minute': '1000000',
  })
  const key = at.key()
  const document = (await (await at.get('/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  const answered: string[] = []
  let tried = 0
  for (const { method, path, sample } of interfaceRows) {
    const operation = document.paths[path]?.[method.toLowerCase()]
    const description = operation?.responses?.['503']?.description ?? ''
    if (method !== 'GET' || !sample || !description.includes('QUERY_WORKER')) continue
    for (const { name } of operation?.parameters ?? []) {
      const text = wrong[name ?? '']
      if (text === undefined) continue
      tried += 1
      const url = new URL(`http://localhost${sample}`)
      url.searchParams.set(name!, text)
      const { status } = await at.get(url.pathname + url.search, key)
      if (status < 400 || status >= 500) answered.push(`${path} ${name}: ${status}`)
    }
  }
  expect(answered).toEqual([])
  expect(tried).toBeGreaterThan(100)
})

const wrong: Readonly<Record<string, string>> = {
  page: '-1',
  per_page: '0',
  start_date: 'yesterday',
  end_date: 'yesterday',
  as_of: 'now',
}

interface Operation {
  parameters?: { name?: string }[]
  responses?: Record<string, { description?: string }>
}
