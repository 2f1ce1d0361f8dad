import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/gate.ts'
import { notFound } from '../../../http/problem/problem.ts'
import type { DataSource, DataSources } from '../service/sources.ts'

export const sourceAccess = { feature: 'data_connector', meter: true } as const
export const sourceWrite = { ...sourceAccess, header: true } as const
export const sourceParams = t.Object({
  id: t.string('Id of the data source.', '00000000-0000-4000-8000-000000000801'),
})

/** A source of the caller's account; unknown, malformed and foreign ids look the same. */
export function ownSource(
  sources: Pick<DataSources, 'byId'>,
  id: string,
  { key }: Caller,
): DataSource {
  const source = sources.byId(id)
  if (source?.accountId !== key.account.account.id) throw notFound('data source', id)
  return source
}
