import { expect } from 'bun:test'
import type { DemoInstance } from '../instance/demo-instance.ts'
import { interfaceRows, type Row } from './interface.ts'

const gets = interfaceRows.filter(
  ({ method, sample, path }) => method === 'GET' && sample !== null && !/stream|\/cable/.test(path),
)

async function statusOf(instance: DemoInstance, { access, sample }: Row): Promise<number> {
  const response = await instance.ask('GET', sample!, {
    key: access.startsWith('key') && access !== 'keyless' ? instance.apiKey : null,
    headers: access === 'operator' ? { authorization: `Bearer ${instance.adminToken}` } : {},
  })
  await response.arrayBuffer()
  return response.status
}

/** Expects that a demo instance answers the sample of every GET of the API. */
export async function expectAnsweredGets(instance: DemoInstance): Promise<void> {
  expect(gets.length).toBeGreaterThan(200)
  const refused: string[] = []
  for (const row of gets) {
    const status = await statusOf(instance, row)
    if (status >= 300) refused.push(`${status} ${row.sample}`)
  }
  expect(refused).toEqual([])
}
