import { t } from '../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { parsed } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { notFound } from '../../../http/problem/problem.ts'
import { dayMs, isoDay, startOfDay } from '../../../lib/time/instant.ts'
import { quotaWindow } from '../../../plans/quota.ts'
import { invoicePdf } from '../../../send/billing/invoice-pdf.ts'
import type { AccountState } from '../../keys/service/keyring.ts'
import { billingRead } from './plans.ts'
import { InvoiceShape, invoiceRow } from './row.ts'

const perPageMax = 100
const perPageDefault = 20
const params = t.Object({
  id: t.string('Id of the invoice.', '00000000-0000-4000-8000-000000000901'),
})
const day = t.String({ format: 'date', examples: ['2026-11-20'] })
const Usage = t.Object({
  period: t.Object({
    start: day,
    end: t.date('The last day.', '2026-11-30'),
  }),
  requests: t.Object({
    used: t.integer('Requests of all keys, including those paid with credits.', 1234),
    limit: t.integerOrNull('Null: no quota.'),
    remaining: t.integerOrNull('Null: no quota.'),
  }),
  daily_breakdown: t.objects('Each day of the period so far, oldest first.', {
    date: day,
    requests: t.integer({ examples: [61] }),
  }),
})

/** Invoices, their PDFs, and the usage that they bill. */
export const invoiceOperations: Operations = [
  operation('GET /billing/invoices', {
    operationId: 'listInvoices',
    summary: 'List invoices',
    description: 'Returns the invoices of the account, newest first.',
    access: billingRead,
    page: { max: perPageMax, default: perPageDefault },
    answers: t.Object({ invoices: t.Array(InvoiceShape), meta: PageMetaShape }),
    handle: ({ at: { billing, links }, caller, request, page }) => {
      const { account } = caller.key.account
      billing.current(caller.key.account)
      const filter = { accountId: account.id }
      const meta = page.meta(billing.invoices.count(filter))
      const { baseUrl } = links(request)
      const rows = billing.invoices.page(filter, page.perPage, page.offset)
      return { invoices: rows.map(row => invoiceRow(row, baseUrl)), meta }
    },
  }),
  operation('GET /billing/invoices/:id/pdf', {
    operationId: 'getInvoicePdf',
    summary: 'Download an invoice as PDF',
    description: 'Returns the invoice as a PDF document.',
    access: billingRead,
    params: params.properties,
    answers: t.string('A PDF document.', '%PDF-1.7 …', { contentMediaType: 'application/pdf' }),
    handle: async ({ at: { billing, issuer }, caller, params: { id } }) => {
      const invoice = billing.invoices.own(caller.key.account.account.id, id)
      if (!invoice) throw notFound('invoice', id)
      return pdfAnswer(await invoicePdf({ ...invoice, issuer }), invoice.number)
    },
  }),
  usage,
]

const pdfAnswer = (bytes: Uint8Array, number: string) =>
  new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      'content-type': 'application/pdf',
      'content-disposition': `inline; filename="invoice-${number}.pdf"`,
      'cache-control': 'private, no-store',
    },
  })

const periods = ['current', 'previous'] as const

function usage({ keys, meter, now }: Context) {
  const row = (state: AccountState, period: (typeof periods)[number]) => {
    const entitled = keys.entitlements(state)
    const running = quotaWindow(entitled, state.account, now())
    // The window before: of a trial, the day before it began.
    const window = period === 'current' ? running : { ...before(running), limit: running.limit }
    const requestsByDay = new Map(
      meter
        .daily(state, startOfDay(window.startsAt), window.endsAt)
        .map(day => [isoDay(day.dayAt), day.requests]),
    )
    const days = daysOf(window.startsAt, Math.min(window.endsAt, now() + 1))
    const breakdown = days.map(date => ({ date, requests: requestsByDay.get(date) ?? 0 }))
    const used = breakdown.reduce((sum, day) => sum + day.requests, 0)
    const remaining = window.limit === null ? null : Math.max(0, window.limit - used)
    return {
      period: { start: isoDay(window.startsAt), end: isoDay(window.endsAt - 1) },
      requests: { used, limit: window.limit, remaining },
      daily_breakdown: breakdown,
    }
  }
  const before = (window: { kind: string; startsAt: number; endsAt: number }) => {
    if (window.kind === 'monthly_counter') {
      const last = new Date(window.startsAt - 1)
      return {
        startsAt: Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), 1),
        endsAt: window.startsAt,
      }
    }
    const today = startOfDay(window.startsAt)
    return { startsAt: today - dayMs, endsAt: today }
  }
  return [
    operation('GET /billing/usage', {
      operationId: 'getBillingUsage',
      summary: 'List usage by day',
      description:
        'Returns the requests of the whole account in the current or previous quota window, by UTC day, with the current quota. The window is a day on the free plan, a calendar month on other plans and seven days in a trial.',
      access: billingRead,
      query: {
        period: parsed.word(periods, '`current` (default) or `previous`.', 'previous', {
          default: 'current',
        }),
      },
      answers: Usage,
      handle: ({ caller, query }) => row(caller.key.account, query.period),
    }),
  ]
}

/** The days from one moment to before another. */
const daysOf = (from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, Math.ceil((to - startOfDay(from)) / dayMs)) }, (_, i) =>
    isoDay(startOfDay(from) + i * dayMs),
  )
