import { t } from '../../../http/answer/schema.ts'
import { noBody } from '../../../http/input/body-schema.ts'
import { envelope, envelopeOf, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { createSourceForms, RotateBody } from './form.ts'
import { ownSource, sourceAccess, sourceParams, sourceWrite } from './route.ts'
import { HealthShape, healthRow, LogShape, logRow, RowShape, rowRow } from './row.ts'

const sampleRows = 5

const Tested = envelopeOf({
  success: t.Boolean(),
  duration_ms: t.integer(),
  records_count: t.orNull(
    t.integer(),
    'Rows that a sync would record; null if nothing could be read.',
  ),
  sample_data: t.Array(RowShape, {
    description: 'The first rows, as they would be returned.',
  }),
  error: t.orNull(t.String()),
  rejected: t.integer('Rows that a sync would skip.'),
  rejections: t.Array(t.String(), { description: 'Why, of the first twenty.' }),
})
export type Tested = (typeof Tested)['static']
const Rotated = envelopeOf({
  success: t.Literal(true),
  credential_id: t.String(),
  message: t.String(),
})
export type Rotated = (typeof Rotated)['static']
const common = { params: sourceParams.properties }

export const sourceSyncOperations = (deps: Context) => [
  operation('POST /v1/data-sources/:id/test', {
    operationId: 'testDataSource',
    summary: 'Test a data source',
    description:
      'Reads the source once, within 8 seconds, and returns the rows without writing anything. For type `webhook` it returns whether rows can be pushed, and the newest ones. The status is 200 whatever the outcome.',
    access: sourceWrite,
    ...common,
    body: noBody,
    answers: { 200: Tested },
    handle: async ({ at: { sourceSync, dataSources: sources }, caller, params: { id } }) => {
      const { durationMs, content, error } = await sourceSync.test(ownSource(sources, id, caller))
      const { rows = [], received = 0, rejected = 0, rejections = [] } = content ?? {}
      const isFine = error === null && (rejected === 0 || rejected < received)
      return success({
        success: isFine,
        duration_ms: durationMs,
        records_count: content ? rows.length : null,
        sample_data: rows.slice(0, sampleRows).map(rowRow),
        error:
          error ??
          (isFine ? null : `none of the ${received} rows could be taken: ${rejections[0]}`),
        rejected,
        rejections: [...rejections],
      })
    },
  }),
  operation('GET /v1/data-sources/:id/logs', {
    operationId: 'listDataSourceLogs',
    summary: 'List the sync log of a data source',
    description: 'Returns the last hundred syncs, newest first; the last thousand are stored.',
    access: sourceAccess,
    ...common,
    answers: { 200: envelopeOf({ logs: t.Array(LogShape) }) },
    handle: ({ at: { dataSources: sources }, caller, params: { id } }) => {
      const source = ownSource(sources, id, caller)
      return success({ logs: sources.logs(source).map(log => logRow(source, log)) })
    },
  }),
  operation('GET /v1/data-sources/:id/health', {
    operationId: 'getDataSourceHealth',
    summary: 'Get the health of a data source',
    description: 'Returns the outcome of the last twenty syncs.',
    access: sourceAccess,
    ...common,
    answers: { 200: envelope(HealthShape) },
    handle: ({ at: { dataSources: sources }, caller, params: { id } }) => {
      const source = ownSource(sources, id, caller)
      return success(healthRow(source, sources.health(source)))
    },
  }),
  ...rotation(deps),
]

const rotating = { ...sourceWrite, action: 'read_secrets' } as const

function rotation(deps: Context) {
  const { dataSources: sources } = deps
  const forms = createSourceForms(deps)
  return [
    operation('POST /v1/data-sources/:id/rotate_credentials', {
      operationId: 'rotateDataSourceCredentials',
      summary: 'Rotate the credentials of a data source',
      description:
        'Replaces the credentials as a whole, resets the failure count and syncs. Neither old nor new credentials are returned.',
      access: rotating,
      ...common,
      idempotent: true,
      body: RotateBody.schema,
      answers: { 200: Rotated },
      handle: ({ body, caller, params: { id } }) => {
        const source = ownSource(sources, id, caller)
        const credentialId = sources.rotate(source, forms.rotated(body))
        const message = 'The new credentials are in use; the old ones were deleted.'
        return success({ success: true as const, credential_id: credentialId, message })
      },
    }),
  ]
}
