import type { QueryWorkerPool } from './pool.ts'

const path = '/openapi.json'

export interface QueryWorkerDocumentDeps {
  pool: Pick<QueryWorkerPool, 'ask' | 'rest'>
  /** Creates the document on the main thread, without query workers. */
  own(): Promise<string>
  now(): number
  snapshotAt(): number
}

/**
 * The OpenAPI document as a query worker creates it: this takes a second, during which the main
 * thread would answer nothing. The first caller caches it.
 */
export function createQueryWorkerDocument({
  pool,
  own,
  now,
  snapshotAt,
}: QueryWorkerDocumentDeps): () => Promise<string> {
  return async (): Promise<string> => {
    const outcome = await pool.ask(path, {
      url: `http://localhost${path}`,
      method: 'GET',
      headers: [],
      body: undefined,
      caller: undefined,
      now: now(),
      snapshotAt: snapshotAt(),
    })
    if (outcome.kind !== 'answer' || outcome.status !== 200) return await own()
    const body = outcome.goesOn ? pool.rest(outcome.id, outcome.body) : outcome.body
    return await new Response(body).text()
  }
}
