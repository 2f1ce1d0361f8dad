import { t } from '../../../http/answer/schema.ts'
import { nameNotFound } from '../../../http/problem/problem.ts'
import { markSources } from '../../energy/operations/answer.ts'
import { energy } from '../../energy/operations/frame.ts'
import { wellTimeline } from '../service/well-timeline.ts'
import { parseWell } from './frac-focus.ts'
import { permitAccess } from './permits.ts'

const type = t.Union(
  [
    t.Literal('permit'),
    t.Literal('spud'),
    t.Literal('frac_start'),
    t.Literal('frac_end'),
    t.Literal('completion'),
    t.Literal('first_production'),
  ],
  { examples: ['spud'] },
)

const Timeline = t.object('WellTimeline', {
  api_number: t.String({ examples: ['42329400010000'] }),
  well_name: t.String({ examples: ['BRADFORD 14-23 UNIT'] }),
  operator: t.String({ examples: ['Juniper Ridge Operating, LLC'] }),
  state: t.String({ examples: ['TX'] }),
  events: t.objects('Oldest first.', {
    event_type: type,
    type,
    date: t.String({ format: 'date', examples: ['2025-03-14'] }),
    description: t.String({ examples: ['Drilling began.'] }),
    source: t.String({ examples: ['Texas RRC'] }),
    metadata: t.Record(t.String(), t.Union([t.String(), t.Number(), t.Null()]), {
      description: 'Ids and facts of the record that the event is from.',
      examples: [{ permit_number: '918273' }],
    }),
  }),
})

export const timelineOperation = energy.record({
  path: '/v1/ei/wells/:api_number/timeline',
  operationId: 'getWellTimeline',
  summary: 'Get the timeline of a well',
  description:
    'Returns the known permits, spud, hydraulic fracturing, completion and first production of a well, oldest first. 404 for an unknown API number.',
  access: permitAccess,
  params: {
    api_number: t.string(
      'Ten, twelve or fourteen digits, with or without dashes.',
      '42329400010000',
    ),
  },
  title: 'WellTimelineAnswer',
  data: Timeline,
  handle(call) {
    const { permits, fracDisclosures, wells } = call.at
    const apiNumber = parseWell('api_number', call.params.api_number)
    const timeline = wellTimeline(
      { permits: permits.store, disclosures: fracDisclosures, wells },
      apiNumber,
    )
    if (!timeline) throw nameNotFound('well', apiNumber)
    const { wellName, operator, state, events } = timeline
    markSources(call, events)
    const rows = events.map(({ on, ...event }) => ({
      event_type: event.type,
      ...event,
      date: on,
      metadata: { ...event.metadata },
    }))
    return { api_number: apiNumber, well_name: wellName, operator, state, events: rows }
  },
})
