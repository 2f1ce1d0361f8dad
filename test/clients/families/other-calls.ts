import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Played, requestBodies } from './node-calls.ts'
import type { Send } from './senders.ts'
import { differences, parseType } from './short-form.ts'

/** Each line: family, its method, HTTP method, path and the type of the whole body. */
const lines = readFileSync(join(import.meta.dir, 'others.tsv'), 'utf8')
  .trimEnd()
  .split('\n')

const codes = [
  'WTI_USD',
  'BRENT_CRUDE_USD',
  'URALS_USD',
  'DUBAI_CRUDE_USD',
  'NATURAL_GAS_USD',
  'NATURAL_GAS_EU',
  'NATURAL_GAS_GBP',
  'COAL_USD',
  'GASOLINE_USD',
  'DIESEL_USD',
]
const calls = lines.flatMap(line => {
  const [family = '', name = '', method = '', path = '', type = ''] = line.split('\t')
  const paths = path.includes('$code') ? codes.map(code => path.replace('$code', code)) : [path]
  return paths.map(at => ({ family, name, method, path: at, type: parseType(type) }))
})

const bodies: Readonly<Record<string, unknown>> = {
  ...requestBodies,
  'POST /v1/prices/batch': {
    codes: [
      'BRENT_CRUDE_USD',
      'WTI_USD',
      'NATURAL_GAS_WAHA',
      'VLSFO_BRSSZ_USD',
      'EU_CARBON_EUR',
      'DIESEL_USD',
    ],
  },
}

const idOf = (json: unknown): string | undefined => {
  const { id, data } = json as {
    id?: string
    data?: { id?: string; subscription?: { id: string } }
  }
  return id ?? data?.id ?? data?.subscription?.id
}

/** Plays the methods of one family in their order. */
export async function playFamily(send: Send, family: string): Promise<Played[]> {
  const ids = new Map<string, string>()
  const played: Played[] = []
  for (const { name, method, path, type } of calls.filter(call => call.family === family)) {
    const collection = path.replace(/\/:id.*/, '')
    const answer = await send(method, path.replace(':id', ids.get(collection) ?? ''), {
      body: bodies[`${method} ${path}`],
      isOpen: path.startsWith('/v1/demo/'),
    })
    const found =
      answer.status >= 300
        ? [`status ${answer.status}: ${answer.text.slice(0, 120)}`]
        : differences(answer.json, type)
    const id = method === 'POST' && answer.status === 201 ? idOf(answer.json) : undefined
    if (id !== undefined) ids.set(collection, id)
    played.push({ call: `${name}: ${method} ${path}`, differences: [...new Set(found)] })
  }
  return played
}
