import { expect, test } from 'bun:test'
import { withParametersInPlace } from '../../../src/http/openapi/parameters.ts'
import { openTestInstance } from '../../support/instance/instance.ts'
import { interfaceRows } from '../../support/interface/interface.ts'

test('every heavy operation refuses a word, number, page or moment that its schema does not have, so that no worker is needed for it', async () => {
  const at = openTestInstance({
    'limits.per_minute': '1000000',
    'limits.marine_historical_per_minute': '1000000',
  })
  const key = at.key()
  const document = withParametersInPlace(
    (await (await at.get('/openapi.json')).json()) as {
      paths: Record<string, Record<string, Operation>>
    },
  )
  const answered: string[] = []
  let tried = 0
  for (const { method, path, sample } of interfaceRows) {
    const operation = document.paths[path]?.[method.toLowerCase()]
    const description = operation?.responses?.['503']?.description ?? ''
    if (method !== 'GET' || !sample || !description.includes('QUERY_WORKER')) continue
    for (const parameter of operation?.parameters ?? []) {
      const { name } = parameter
      const text = wrongFor(parameter)
      if (text === undefined) continue
      tried += 1
      const url = new URL(`http://localhost${sample}`)
      url.searchParams.set(name!, text)
      for (const other of supersedes[name!] ?? []) url.searchParams.delete(other)
      const answer = await at.get(url.pathname + url.search, key)
      const { status } = answer
      // Sheets get refusals as 200.
      const isRefused = path.endsWith('.xml')
        ? (await answer.text()).includes('<status>invalid_request</status>')
        : status >= 400 && status < 500
      if (!isRefused) answered.push(`${path} ${name}: ${status}`)
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

/** Where one of these is given, the parameter is not read. */
const supersedes: Readonly<Record<string, readonly string[]>> = {
  days: ['at', 'start_date', 'end_date', 'period'],
  grade: ['fuel_type'],
}

/** A text that no reading of the parameter's schema takes; undefined where there is none. */
function wrongFor({ name, schema = {} }: Parameter): string | undefined {
  if (name !== undefined && wrong[name] !== undefined) return wrong[name]
  if (schema.enum) return 'no-such-word'
  if (schema.type === 'boolean') return 'perhaps'
  const formats = [schema.format, ...(schema.anyOf ?? []).map(({ format }) => format)]
  if (formats.includes('date') || formats.includes('date-time')) return 'yesterday'
  if (schema.type !== 'integer' && schema.type !== 'number') return undefined
  return schema.minimum === undefined ? 'many' : String(schema.minimum - 1)
}

interface Parameter {
  name?: string
  schema?: {
    type?: string
    enum?: unknown[]
    minimum?: number
    format?: string
    anyOf?: { format?: string }[]
  }
}

interface Operation {
  parameters?: Parameter[]
  responses?: Record<string, { description?: string }>
}
