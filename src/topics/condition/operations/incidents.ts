import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { operation } from '../../../http/operations/operation.ts'
import { escaped } from '../../../lib/text/html.ts'
import { isoInstant, mailInstant } from '../../../lib/time/instant.ts'
import { incidentDays } from '../service/incidents.ts'
import type { Incident } from '../store/incidents.ts'

export const IncidentRow = t.Object({
  id: t.integer({ examples: [7] }),
  part: t.string('As in `components` of the status.', 'ingest'),
  status: t.oneOf(['degraded', 'down'], 'Worst state of the incident.'),
  message: t.orNull(t.String(), 'Latest update.'),
  began_at: t.String({ format: 'date-time' }),
  ended_at: t.instantOrNull('Null while it lasts.'),
})
export type IncidentRow = (typeof IncidentRow)['static']

const Incidents = t.object('Incidents', {
  days: t.integer('Number of days covered.', incidentDays),
  timestamp: t.String({ format: 'date-time' }),
  incidents: t.Array(IncidentRow, { description: 'The newest first.' }),
})

const access = { open: 'The status is public.' } as const

/** Incidents of the service, readable without a key. */
export const incidentOperations = [
  operation('GET /status/incidents.json', {
    operationId: 'listIncidents',
    summary: 'List incidents of the last 90 days',
    description:
      'Returns the times when a component was degraded or down, checked once a minute, and when the service was stopped for ten minutes or more. Needs no key; `/status` shows them.',
    access,
    answers: Incidents,
    handle: ({ at, reply }) => {
      const { incidents, now } = at
      reply.headers['cache-control'] = 'no-store'
      return {
        days: incidentDays,
        timestamp: isoInstant(now()),
        incidents: incidents.list().map(incident => answerRow(IncidentRow, incident, {})),
      }
    },
  }),
  operation('GET /status/incidents.rss', {
    operationId: 'getIncidentFeed',
    summary: 'Get the incident feed as RSS',
    description: 'Returns the incidents of the last 90 days as an RSS feed. Needs no key.',
    access,
    answers: t.string(
      'RSS 2.0: one item when an incident begins and one when it ends.',
      '<?xml version="1.0" encoding="utf-8"?>',
      { contentMediaType: 'application/rss+xml' },
    ),
    handle: ({ at, request, reply }) => {
      const { incidents, links, serviceName } = at
      reply.headers['cache-control'] = 'no-store'
      reply.headers['content-type'] = 'application/rss+xml; charset=utf-8'
      return rssOf(incidents.list(), serviceName, links(request).baseUrl)
    },
  }),
]

function rssOf(incidents: readonly Incident[], serviceName: string, baseUrl: string): string {
  const url = escaped(`${baseUrl}/status`)
  const items = incidents
    .flatMap(incident => itemsOf(incident))
    .sort((a, b) => b.at - a.at)
    .map(
      ({ id, title, text, at }) => `    <item>
      <title>${escaped(title)}</title>
      <link>${url}</link>
      <guid isPermaLink="false">${id}</guid>
      <pubDate>${mailInstant(at)}</pubDate>
      <description>${escaped(text)}</description>
    </item>`,
    )
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0">
  <channel>
    <title>${escaped(serviceName)}: incidents</title>
    <link>${url}</link>
    <description>When parts of ${escaped(serviceName)} were degraded or down.</description>
${items.join('\n')}
  </channel>
</rss>
`
}

/** A feed reader that has shown the beginning must be notified of the end, so each is an item. */
function itemsOf({ id, part, status, message, beganAt, endedAt }: Incident) {
  const text = message ?? `The part ${part} was ${status}.`
  const begun = { id: `incident-${id}`, title: `${part}: ${status}`, text, at: beganAt }
  if (endedAt === null) return [begun]
  return [
    begun,
    {
      id: `incident-${id}-ended`,
      title: `${part}: over`,
      text: `${text} From ${isoInstant(beganAt)} to ${isoInstant(endedAt)}.`,
      at: endedAt,
    },
  ]
}
