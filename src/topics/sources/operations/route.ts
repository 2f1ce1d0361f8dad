import { t } from '../../../http/answer/schema.ts'
import { owned } from '../../../http/gate/owned.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import type { DataSources } from '../service/sources.ts'

export const sourceAccess = { feature: 'data_connector', meter: true } as const
export const sourceWrite = { ...sourceAccess, header: true } as const
export const sourceParams = t.Object({
  id: t.string('Id of the data source.', '00000000-0000-4000-8000-000000000801'),
})

export const ownSource = (sources: Pick<DataSources, 'byId'>, id: string, caller: Caller) =>
  owned(sources.byId(id), caller, 'data source', id)
