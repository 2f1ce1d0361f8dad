import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { formOf } from '../../../../http/input/form.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { notFound } from '../../../../http/problem/problem.ts'
import { parseDay } from '../../../../lib/time/instant.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import type { Quarantine } from '../../../prices/store/quarantine.ts'

const operator = { operator: 'data' } as const

export const QuarantineRow = t.object('QuarantineRange', {
  id: t.integer(),
  code: t.String({ examples: ['WTI_USD'] }),
  from: t.String({ format: 'date', examples: ['2026-11-02'] }),
  to: t.String({ format: 'date', examples: ['2026-11-03'] }),
  reason: t.String({ examples: ['Source repeated a stale value'] }),
  created_at: t.String({ format: 'date-time' }),
})
export type QuarantineRow = (typeof QuarantineRow)['static']

/** Days of a series that no read answers. */
export function quarantineAdminOperations({ catalogue, quarantine, now }: Context) {
  const quarantineRow = (range: Quarantine) =>
    answerRow(QuarantineRow, range, {
      code: catalogue.byId(range.seriesId).code,
      from: range.fromOn,
      to: range.toOn,
    })

  return [
    operation('GET /admin/v1/quarantine', {
      operationId: 'listQuarantine',
      summary: 'List quarantined days',
      description: 'Returns the quarantined ranges of days, which are hidden from reads.',
      access: operator,
      answers: envelope(t.Array(QuarantineRow)),
      handle: () => success(quarantine.all().map(quarantineRow)),
    }),
    operation('POST /admin/v1/quarantine', {
      operationId: 'addQuarantine',
      summary: 'Quarantine days',
      description:
        'Hides a range of days of a series from all reads; responses name them. Nothing is deleted.',
      access: operator,
      idempotent: true,
      body: t.Any({
        description: '`{"code","from","to"?,"reason"}`; days, both inclusive.',
        examples: [
          {
            code: 'WTI_USD',
            from: '2026-11-02',
            to: '2026-11-03',
            reason: 'Source repeated a stale value',
          },
        ],
      }),
      fields: t.Object({ code: t.Any(), from: t.Any(), to: t.Any(), reason: t.Any() }),
      answers: { 201: envelope(QuarantineRow) },
      handle: ({ body }) => {
        const range = quarantineOf(body, catalogue, now())
        return success(quarantineRow(quarantine.add(range)))
      },
    }),
    operation('DELETE /admin/v1/quarantine/:id', {
      operationId: 'removeQuarantine',
      summary: 'Lift a quarantine',
      description: 'Makes the days visible again.',
      access: operator,
      params: {
        id: t.string('Number of the range.', '1'),
      },
      answers: envelope(QuarantineRow),
      handle: ({ params }) => {
        const removed = /^\d{1,15}$/.test(params.id)
          ? quarantine.remove(Number(params.id))
          : undefined
        if (!removed) throw notFound('quarantine', params.id)
        return success(quarantineRow(removed))
      },
    }),
  ]
}

function quarantineOf(body: unknown, catalogue: Catalogue, now: number): Omit<Quarantine, 'id'> {
  const form = formOf(body)
  const text = (field: string) => {
    const value = form.value(field)
    return typeof value === 'string' ? value.trim() : ''
  }
  const resolved = catalogue.resolve(text('code'), now)
  if (!resolved)
    form.fault('code', `must be a code of the catalogue.${nearestCode(catalogue, text('code'))}`)
  const from = text('from')
  const to = text('to') || from
  if (parseDay(from) === undefined) form.fault('from', 'must be a date (YYYY-MM-DD).')
  if (text('to') !== '' && parseDay(to) === undefined)
    form.fault('to', 'must be a date (YYYY-MM-DD).')
  else if (parseDay(from) !== undefined && to < from)
    form.fault('to', `must not be before from (${from}).`)
  const reason = text('reason')
  if (reason === '' || reason.length > 500)
    form.fault('reason', 'must be a reason of 1 to 500 characters.')
  form.check()
  return { seriesId: resolved!.series.id, fromOn: from, toOn: to, reason, createdAt: now }
}

function nearestCode(catalogue: Catalogue, code: string): string {
  const [near] = catalogue.suggest(code.slice(0, 100))
  return near === undefined ? '' : ` Did you mean ${near.code}?`
}
