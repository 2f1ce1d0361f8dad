import { t } from '../../../http/answer/schema.ts'
import { markSeries } from '../../../http/operations/commodities/row.ts'
import { operation } from '../../../http/operations/operation.ts'
import { isoInstant, isoOrNull } from '../../../lib/time/instant.ts'
import { version } from '../../../version.ts'
import { conditionOf, schedulerComponent } from '../service/condition.ts'
import { publicParts } from '../service/parts.ts'
import { FeedRow, feedRow, type HealthDeps, upMs } from './health.ts'

const state = t.oneOf(['operational', 'degraded', 'down', 'disabled'])

const codes = (description: string) => t.integer(description, 12)

export const PublicStatus = t.object('PublicStatus', {
  service: t.String({ examples: ['Energy Prices'] }),
  mode: t.oneOf(['evaluation', 'production'], 'A demo instance returns generated data.'),
  status: t.oneOf(['operational', 'degraded', 'down']),
  version: t.String({ examples: [version] }),
  timestamp: t.String({ format: 'date-time' }),
  newest_observation: t.orNull(t.String({ format: 'date-time' })),
  components: t.Array(
    t.Object({
      name: t.String({ examples: ['database'] }),
      status: state,
      message: t.orNull(t.String()),
    }),
  ),
  categories: t.objects('How fresh the data is, by category.', {
    name: t.String({ examples: ['crude_oil'] }),
    codes: codes('Codes that should have data.'),
    current: codes('Codes that are current by their release schedule.'),
    delayed: codes('Codes whose newest price is late.'),
    stale: codes('Codes whose newest price is stale.'),
    missing: codes('Codes without any data.'),
  }),
  feeds: t.Array(FeedRow, { description: 'How fresh each source is.' }),
})
export type PublicStatus = (typeof PublicStatus)['static']

/** The status of the service, readable without a key. */
export const publicStatusOperations = (
  deps: HealthDeps & { serviceName: string; mode: 'serve' | 'dev' },
) => [
  operation('GET /status.json', {
    operationId: 'getPublicStatus',
    summary: 'Get the public status',
    description:
      'Returns the status of each component and the data freshness of each category. Needs no key; `/status` shows it as a page.',
    access: { open: 'The status is public.' },
    answers: PublicStatus,
    handle: ({ reply }) => {
      const now = deps.clock.now()
      const overview = deps.freshness.overview()
      const feeds = deps.freshness.feeds()
      const components = publicParts({ ...deps, freshness: { feeds: () => feeds } })
      // Anyone who looks after the jobs is not one of them.
      components.splice(3, 0, schedulerComponent(deps.lastPassAt(), now, upMs(deps)))
      markSeries(reply, deps.marks, deps.catalogue.list())
      reply.headers['cache-control'] = 'no-store'
      return {
        service: deps.serviceName,
        mode: deps.mode === 'dev' ? ('evaluation' as const) : ('production' as const),
        status: conditionOf(components),
        version,
        timestamp: isoInstant(now),
        newest_observation: isoOrNull(overview.newestAt),
        components: components.map(({ name, status, message }) => ({
          name,
          status,
          message: message ?? null,
        })),
        categories: [...overview.byCategory]
          .map(([name, { total, current, delayed, stale, missing }]) => ({
            name,
            codes: total,
            current,
            delayed,
            stale,
            missing,
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
        feeds: feeds.map(feedRow),
      }
    },
  }),
]
