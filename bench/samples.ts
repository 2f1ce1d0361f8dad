import interfaceRows from '../test/operations/interface.json'
import type { Wellhead } from './server.ts'

/** A GET operation of the API, with an address that a demo instance can answer. */
export interface Sample {
  path: string
  sample: string
  /** The credential of a request: none, the evaluation key or the operator's token. */
  headersOf(server: Wellhead): Record<string, string>
}

/** All but streams, which never end, and the replay, whose time is that of its records. */
export const samples: readonly Sample[] = interfaceRows
  .filter(
    ({ method, path, sample }) =>
      method === 'GET' && sample !== null && !/stream|replay/.test(path),
  )
  .map(({ path, sample, access }) => ({
    path,
    sample: sample!,
    headersOf: ({ apiKey, adminToken }: Wellhead) => ({
      ...(access === 'operator' && { authorization: `Bearer ${adminToken}` }),
      ...(access.startsWith('key') && access !== 'keyless' && { authorization: `Token ${apiKey}` }),
    }),
  }))
