import type { PDFFont, PDFPage } from 'pdf-lib'
import { isoDay } from '../../lib/time/instant.ts'
import { type InvoiceLine, money } from '../../plans/billing/invoice.ts'
import type { InvoiceTerms, Returned } from './processor.ts'

/** The content of an invoice. */
export interface PrintedInvoice extends InvoiceTerms, Returned {
  number: string
  billedTo: string
  /** Name and address, line by line. */
  issuer: readonly string[]
}

interface Fonts {
  plain: PDFFont
  bold: PDFFont
}

const page = { width: 595, height: 842, margin: 60 }
const right = page.width - page.margin
const rowsAPage = 24
const linePoints = 16

/**
 * The same invoice always gives the same bytes. Characters that the standard fonts do not have are
 * shown as question marks.
 */
export async function invoicePdf(invoice: PrintedInvoice): Promise<Uint8Array> {
  // The library is big, and few requests are for a PDF.
  const { PDFDocument, StandardFonts } = await import('pdf-lib')
  const document = await PDFDocument.create()
  const createdOn = new Date(invoice.createdAt)
  document.setTitle(`Invoice ${invoice.number}`)
  document.setCreationDate(createdOn)
  document.setModificationDate(createdOn)
  document.setProducer('')
  document.setCreator('')
  const fonts = {
    plain: await document.embedFont(StandardFonts.Helvetica),
    bold: await document.embedFont(StandardFonts.HelveticaBold),
  }
  const sheets = sheetsOf(invoice.lines)
  sheets.forEach((lines, i) => {
    const sheet = document.addPage([page.width, page.height])
    const below = head(sheet, fonts, invoice)
    rows(sheet, fonts, invoice, lines, below, i === sheets.length - 1)
  })
  return document.save()
}

function sheetsOf(lines: readonly InvoiceLine[]): (readonly InvoiceLine[])[] {
  const sheets = Array.from({ length: Math.ceil(lines.length / rowsAPage) }, (_, i) =>
    lines.slice(i * rowsAPage, (i + 1) * rowsAPage),
  )
  return sheets.length === 0 ? [[]] : sheets
}

// Latin-1 without its control characters: what the standard fonts can write in any case.
const unwritable = /[^\x20-\x7e\xa0-\xff]/gu
const printable = (text: string): string => text.normalize('NFC').replace(unwritable, '?')

function put(
  sheet: PDFPage,
  font: PDFFont,
  text: string,
  at: { x: number; y: number; size?: number; toRight?: boolean; widthMax?: number },
) {
  const { x, y, size = 10, toRight = false, widthMax } = at
  let shown = printable(text)
  while (
    widthMax !== undefined &&
    shown.length > 1 &&
    font.widthOfTextAtSize(shown, size) > widthMax
  )
    shown = `${shown.slice(0, -4)}...`
  sheet.drawText(shown, { x: toRight ? x - font.widthOfTextAtSize(shown, size) : x, y, size, font })
}

/** The issuer, the customer and the date; returns the position of the first line. */
function head(sheet: PDFPage, { plain, bold }: Fonts, invoice: PrintedInvoice): number {
  let y = page.height - page.margin
  put(sheet, bold, `Invoice ${invoice.number}`, { x: page.margin, y, size: 18 })
  invoice.issuer.forEach((line, i) => {
    put(sheet, i === 0 ? bold : plain, line, {
      x: right,
      y: y - i * linePoints,
      toRight: true,
      widthMax: 240,
    })
  })
  y -= 3 * linePoints + Math.max(0, invoice.issuer.length - 3) * linePoints
  const facts: [string, string][] = [
    ['Billed to', invoice.billedTo],
    ['Date', isoDay(invoice.createdAt)],
    ['Period', `${isoDay(invoice.startsAt)} to ${isoDay(invoice.endsAt)}`],
    ...(invoice.paidAt === null ? ([['Due', isoDay(invoice.dueAt)]] as [string, string][]) : []),
    ['Status', invoice.paidAt === null ? invoice.status : `paid on ${isoDay(invoice.paidAt)}`],
  ]
  for (const [name, value] of facts) {
    put(sheet, bold, name, { x: page.margin, y })
    put(sheet, plain, value, { x: page.margin + 80, y, widthMax: right - page.margin - 80 })
    y -= linePoints
  }
  return y - linePoints
}

function rows(
  sheet: PDFPage,
  { plain, bold }: Fonts,
  invoice: PrintedInvoice,
  lines: readonly InvoiceLine[],
  from: number,
  isLast: boolean,
) {
  let y = from
  const rule = () =>
    sheet.drawLine({
      start: { x: page.margin, y: y + 12 },
      end: { x: right, y: y + 12 },
      thickness: 0.5,
    })
  put(sheet, bold, 'Description', { x: page.margin, y })
  put(sheet, bold, 'Amount', { x: right, y, toRight: true })
  y -= linePoints
  for (const { description, amountCents } of lines) {
    rule()
    put(sheet, plain, description, { x: page.margin, y, widthMax: 360 })
    put(sheet, plain, money(amountCents, invoice.currency), { x: right, y, toRight: true })
    y -= linePoints
  }
  if (!isLast) return
  rule()
  put(sheet, bold, 'Total', { x: page.margin, y })
  put(sheet, bold, money(invoice.amountCents, invoice.currency), { x: right, y, toRight: true })
  const returned = invoice.dispute === 'lost' ? invoice.amountCents : invoice.refundedCents
  if (returned === 0) return
  y -= linePoints
  put(sheet, plain, 'Refunded', { x: page.margin, y })
  put(sheet, plain, money(-returned, invoice.currency), { x: right, y, toRight: true })
}
