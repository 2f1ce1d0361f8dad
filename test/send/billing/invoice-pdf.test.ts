import { expect, test } from 'bun:test'
import { inflateSync } from 'node:zlib'
import { PDFArray, PDFDocument, PDFRawStream } from 'pdf-lib'
import { dayMs } from '../../../src/lib/time/instant.ts'
import { invoicePdf, type PrintedInvoice } from '../../../src/send/billing/invoice-pdf.ts'

const createdAt = Date.parse('2026-11-20T15:00:00Z')
const invoice: PrintedInvoice = {
  number: '2026-000042',
  status: 'paid',
  amountCents: 2_500,
  currency: 'USD',
  createdAt,
  startsAt: createdAt,
  endsAt: createdAt + 30 * dayMs,
  dueAt: createdAt + 30 * dayMs,
  paidAt: createdAt,
  refundedCents: 0,
  dispute: null,
  billedTo: 'buyer@example.com',
  issuer: ['Example Prices Ltd', '1 Harbour Street'],
  lines: [
    { description: 'Unused time of the Starter plan, monthly', amountCents: -2450 },
    { description: 'Professional plan, monthly, from 2026-11-20', amountCents: 4950 },
  ],
}

/** The texts on the pages of the document. */
async function textsOf(bytes: Uint8Array): Promise<string[]> {
  const document = await PDFDocument.load(bytes, { updateMetadata: false })
  return document.getPages().map(page => {
    const contents = page.node.Contents()
    const streams =
      contents instanceof PDFArray
        ? contents.asArray().map(reference => document.context.lookup(reference))
        : [contents]
    const operators = streams
      .filter(stream => stream instanceof PDFRawStream)
      .map(stream => inflateSync(stream.contents).toString('latin1'))
    return [...operators.join('\n').matchAll(/<([0-9A-F]*)> Tj/g)]
      .map(match => Buffer.from(match[1]!, 'hex').toString('latin1'))
      .join('\n')
  })
}

test('an invoice is a valid PDF document that contains everything the invoice states', async () => {
  const bytes = await invoicePdf(invoice)
  expect(Buffer.from(bytes.subarray(0, 5)).toString()).toBe('%PDF-')
  const [text] = await textsOf(bytes)
  const lines = [
    'Invoice 2026-000042',
    'Example Prices Ltd',
    '1 Harbour Street',
    'buyer@example.com',
    '2026-11-20 to 2026-12-20',
  ]
  for (const part of [
    ...lines,
    'paid on 2026-11-20',
    'USD -24.50',
    'USD 49.50',
    'USD 25.00',
    'Unused time of the Starter plan, monthly',
  ]) {
    expect(text).toContain(part)
  }
})

test('the same invoice is the same bytes', async () => {
  expect(
    Buffer.from(await invoicePdf(invoice)).equals(Buffer.from(await invoicePdf(invoice))),
  ).toBe(true)
})

test('an open invoice states when it is due', async () => {
  const [text] = await textsOf(await invoicePdf({ ...invoice, status: 'open', paidAt: null }))
  expect(text).toContain('Due\n2026-12-20')
  expect(text).toContain('Status\nopen')
})

test('an invoice with characters of any script, long texts or many lines is rendered correctly', async () => {
  const lines = Array.from({ length: 60 }, (_, i) => ({
    description: `${i} ${'long '.repeat(60)}`,
    amountCents: 1,
  }))
  const pages = await textsOf(
    await invoicePdf({
      ...invoice,
      lines,
      billedTo: '買い手 \n\u0000 Ørsted 👩‍💻',
      issuer: ['Żubr'],
    }),
  )
  expect(pages).toHaveLength(3)
  expect(pages[2]).toContain('Total')
  expect(pages[0]).not.toContain('Total')
  expect(pages[0]).toContain('Ørsted')
})
