import { t } from '../../../http/answer/schema.ts'
import { noBody } from '../../../http/input/body-schema.ts'
import { envelope, envelopeOf, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { stateForbids } from '../../../http/problem/problem.ts'
import type { LimitReached } from '../../../plans/limits.ts'
import { createSourceForms, NewSourceBody, SourceChangeBody } from './form.ts'
import { sourceIngestOperations } from './ingest.ts'
import { ownSource, sourceAccess, sourceParams, sourceWrite } from './route.ts'
import { SourceAnswer, SourceShape, sourceAnswer, sourceRow } from './row.ts'
import { sourceSyncOperations } from './syncs.ts'

const Listed = envelopeOf({ data_sources: t.Array(SourceShape), count: t.integer() })
const One = envelope(SourceAnswer)
const Deleted = envelopeOf({ id: t.String(), deleted: t.Literal(true) })

/** A new source and a change of one may set credentials. */
const withSecret = { ...sourceWrite, secret: true } as const

/** Sources of private prices of the caller's account. */
export const sourceOperations = (deps: Context) => [
  ...listAndCreate(deps),
  ...changeOne(deps),
  ...sourceSyncOperations(deps),
  ...sourceIngestOperations(deps),
]

function listAndCreate(deps: Context) {
  const { dataSources: sources, links } = deps
  const forms = createSourceForms(deps)
  return [
    operation('GET /v1/data-sources', {
      operationId: 'listDataSources',
      summary: 'List data sources',
      description: 'Returns the data sources of the account, newest first, without credentials.',
      access: sourceAccess,
      answers: { 200: Listed },
      handle: ({ caller, request }) => {
        const rows = sources
          .list(caller.key.account.account.id)
          .map(source => sourceRow(source, links(request).baseUrl))
        return success({ data_sources: rows, count: rows.length })
      },
    }),
    operation('POST /v1/data-sources', {
      operationId: 'createDataSource',
      summary: 'Create a data source',
      description: creation,
      access: withSecret,
      idempotent: true,
      body: NewSourceBody.schema,
      creates: '/v1/data-sources/:id',
      answers: { 201: One },
      handle: ({ body, caller, request }) => {
        const source = sources.create(caller.key.account, forms.created(body))
        if ('refused' in source) throw limitReached(source)
        return success(sourceAnswer(source, links(request).baseUrl))
      },
    }),
  ]
}

const limitReached = ({ limit, count }: LimitReached) =>
  stateForbids(
    'data_source_limit_reached',
    `The account has ${count} data sources of ${limit} allowed. Delete one first.`,
    { limit, current_count: count },
  )

const creation = `Creates a source of marine fuel prices that only this account sees, through \`GET /v1/prices/data-connector\`.

**Types.** \`api\`: one GET of \`scraper_config.url\`, https to public addresses, redirects not followed, at most 4 MB. \`file\`: \`scraper_config.path\` inside the operator's directory for files. \`webhook\`: nothing is fetched; rows are pushed to \`ingest_url\`. Any other type is stored but cannot be synced.

**Rows.** JSON, NDJSON or CSV, gzip too, at most 5,000 at a time. Each needs a \`price\` per metric ton, a \`timestamp\` (ISO 8601 with zone, a day, or Unix time), a \`fuel_type\` and a \`port\`; \`currency\` (USD), \`region\` and \`unit\` (MT) are optional. \`fields\` maps each to a source field, with dots for nested objects; \`defaults\` gives values for missing fields. Invalid rows are counted and logged; the others are recorded. Repeated rows change nothing; a different price for the same time, fuel and port replaces the earlier one. The newest 20,000 rows of a source are stored.

**Schedule.** Every \`interval_minutes\` (default: 60), starting immediately. After each failure the interval doubles, up to a day; after ten consecutive failures the source is \`failed\` until it is changed.

**Credentials** are encrypted at rest and never returned. They are redacted from responses of the source.`

function changeOne(deps: Context) {
  const { dataSources: sources, links } = deps
  const forms = createSourceForms(deps)
  const common = { access: sourceWrite, params: sourceParams.properties }
  return [
    operation('GET /v1/data-sources/:id', {
      operationId: 'getDataSource',
      counted: /^(?:(?:last|next)_\w+|\w+_syncs)$/,
      summary: 'Get a data source',
      description: 'Returns a data source with its sync status, without credentials.',
      access: sourceAccess,
      params: sourceParams.properties,
      answers: { 200: One },
      handle: ({ caller, params: { id }, request }) =>
        success(sourceAnswer(ownSource(sources, id, caller), links(request).baseUrl)),
    }),
    operation('PATCH /v1/data-sources/:id', {
      operationId: 'updateDataSource',
      summary: 'Update a data source',
      description:
        'Updates the given fields; `scraper_config` and `credentials` are replaced as a whole, null removes them. A new configuration or credential, or `status: "active"`, resets the failure count and syncs immediately. The type cannot change.',
      ...common,
      access: withSecret,
      body: SourceChangeBody.schema,
      answers: { 200: One },
      handle: ({ body, caller, params: { id }, request }) => {
        const source = ownSource(sources, id, caller)
        return success(
          sourceAnswer(sources.change(source, forms.changed(body, source)), links(request).baseUrl),
        )
      },
    }),
    operation('DELETE /v1/data-sources/:id', {
      operationId: 'deleteDataSource',
      summary: 'Delete a data source',
      description: 'Deletes the source permanently, with its credentials, rows and log.',
      ...common,
      body: noBody,
      answers: { 200: Deleted },
      handle: ({ caller, params: { id } }) => {
        sources.remove(ownSource(sources, id, caller))
        return success({ id, deleted: true as const })
      },
    }),
  ]
}
