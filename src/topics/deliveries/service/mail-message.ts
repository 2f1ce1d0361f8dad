import { csvText } from '../../../lib/text/csv.ts'
import { escaped } from '../../../lib/text/html.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { headerLine } from '../../../send/messages/mailer.ts'
import { priceType, sourceDescription } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { MailMessage } from '../../messages/service/mail.ts'
import { linkedHtml } from '../../messages/service/mail-html.ts'
import { formatPrice } from '../../prices/math/format.ts'
import type { Delivery } from '../store/deliveries.ts'
import type { RunTrigger } from '../store/runs.ts'
import { csvRows, type DeliveredPrice, type PriceList } from './prices.ts'

export interface DeliveryMailMessage {
  delivery: Delivery
  trigger: RunTrigger
  /** The local day. */
  day: string
  list: PriceList
  serviceName: string
  /** The page on which the account sees and pauses its deliveries. */
  pageUrl: string
}

/** The e-mail of a run: the prices as text, and as an attached table. */
export function deliveryMessage(
  content: DeliveryMailMessage,
): Pick<MailMessage, 'subject' | 'text' | 'html' | 'attachments'> {
  const { delivery, day, list } = content
  const filename = `prices-${day}.csv`
  const title = `${headerLine(delivery.name ?? '') || 'Prices'}, ${day}`
  const lines = list.prices.map(lineOf)
  const notes = notesOf(content, filename)
  return {
    subject: title,
    text: [
      title,
      '',
      ...lines.map(textLine),
      '',
      ...notes.flatMap(note => [note, '']),
      content.serviceName,
      '',
    ].join('\n'),
    html: [
      `<h3>${escaped(title)}</h3>`,
      table(lines),
      ...[...notes, content.serviceName].map(note => `<p>${linkedHtml(note, content.pageUrl)}</p>`),
    ].join('\n'),
    attachments: [
      {
        filename,
        contentType: 'text/csv; charset=utf-8',
        content: csvText(csvRows(list.prices)),
        encoding: 'utf8',
      },
    ],
  }
}

type Line = ReturnType<typeof lineOf>

const lineOf = ({ code, series, price, observedAt, change }: DeliveredPrice) => ({
  name: series.name,
  code,
  price: priceText(series, price),
  observed: isoInstant(observedAt),
  change: change
    ? [
        signed(change.amount, series.decimals),
        change.percent !== undefined && `(${signed(change.percent, 2)}%)`,
      ]
        .filter(Boolean)
        .join(' ')
    : '',
})

const textLine = ({ name, code, price, change, observed }: Line): string =>
  `${name} (${code}): ${[price, change, `observed ${observed}`].filter(Boolean).join(', ')}`

const signed = (value: number, decimals: number): string =>
  `${value > 0 ? '+' : ''}${value.toFixed(decimals)}`

/** `$74.25 per barrel`, `112.50p per therm`, `1.0842`, `418.20 million barrels`. */
function priceText({ decimals, currency, unit, category }: Series, price: number): string {
  const isRate = priceType(category, unit) === 'fx_rate'
  const shown = formatPrice(price, decimals, currency, unit, isRate)
  if (isRate) return shown
  const words = unit.replace(/^pence_per_/, '').replaceAll('_', ' ')
  return currency === null ? `${shown} ${words}` : `${shown} per ${words}`
}

const cadenceWords = { daily: 'every day', weekdays: 'from Monday to Friday' } as const
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

function notesOf(
  { delivery, trigger, list, pageUrl }: DeliveryMailMessage,
  filename: string,
): string[] {
  const { cadence, weekday, deliveryTime, timeZone } = delivery
  const schedule =
    cadence === 'weekly' ? `every ${weekdays[(weekday ?? 1) - 1]}` : cadenceWords[cadence]
  const fixture = list.prices.find(price => price.series.fixture)
  return [
    ...(fixture ? [`${sourceDescription(fixture.series.source, true)}.`] : []),
    ...(list.missing.length > 0 ? [`No current price: ${list.missing.join(', ')}.`] : []),
    `${filename} contains the same prices. Changes are against the last observation of an earlier day in ${timeZone}.`,
    `${trigger === 'manual' ? 'This delivery was requested manually. Scheduled deliveries are sent' : 'Sent'} ${schedule} at ${deliveryTime} (${timeZone}). To change or pause it: ${pageUrl}`,
  ]
}

const cells = (tag: 'td' | 'th', texts: readonly string[]): string =>
  `<tr>${texts.map(text => `<${tag} align="left">${escaped(text)}</${tag}>`).join('')}</tr>`

function table(lines: readonly Line[]): string {
  const rows = lines.map(({ name, code, price, change, observed }) =>
    cells('td', [name, code, price, change, observed]),
  )
  return `<table cellpadding="4">${cells('th', ['Name', 'Code', 'Price', 'Change', 'Observed'])}${rows.join('')}</table>`
}
