import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Fields, isFields } from '../../support/fields.ts'
import { type Played, requestBodies } from './node-calls.ts'
import type { Send } from './senders.ts'
import { differences, parseType } from './short-form.ts'

/** Each line: method of the family, HTTP method, path, type or status, and which half calls it. */
const methods = readFileSync(join(import.meta.dir, 'python.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => {
    const [name = '', method = '', path = '', type = '', half = ''] = line.split('\t')
    return { name, method, path, type, half }
  })

/** The family takes `data` off where a body has it, and wants JSON of every success. */
const taken = (body: unknown): unknown => (isFields(body) ? (body.data ?? body) : body)

/** The list or the object with the list that one half of the family reads. */
const idIn = (value: unknown): string => {
  const [list] = isFields(value) ? Object.values(value).filter(Array.isArray) : [value]
  const [first] = (Array.isArray(list) ? list : []) as Fields[]
  return String(first?.id)
}

export async function playPython(send: Send, half: 'sync' | 'async'): Promise<Played[]> {
  const ids = new Map<string, string>()
  const played: Played[] = []
  for (const call of methods.filter(one => one.half === half || one.half === 'both')) {
    const collection = call.path.replace(/\/:id.*/, '')
    if (call.path.includes(':id') && !ids.has(collection))
      ids.set(collection, idIn(taken((await send('GET', collection)).json)))
    const path = call.path.replace(':id', ids.get(collection) ?? '')
    const body = requestBodies[`${call.method} ${call.path}`]
    const answer = await send(call.method, path, { body })
    const value = taken(answer.json)
    const isRefusal = /^\d{3}$/.test(call.type)
    const found = isRefusal
      ? answer.status === Number(call.type)
        ? []
        : [`status ${answer.status}`]
      : answer.status >= 300
        ? [`status ${answer.status}: ${answer.text.slice(0, 100)}`]
        : differences(value, parseType(call.type))
    if (call.method === 'POST' && !call.path.includes(':id') && isFields(value)) {
      const made = isFields(value.subscription) ? value.subscription : value
      ids.set(collection, String(made.id))
    }
    played.push({
      call: `${call.name} ${call.method} ${call.path}`,
      differences: [...new Set(found)],
    })
  }
  return played
}
