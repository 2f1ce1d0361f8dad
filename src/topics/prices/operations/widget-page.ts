import { escaped } from '../../../lib/text/html.ts'
import type { WidgetItem } from './widget-item.ts'

export interface WidgetPage {
  title: string
  items: readonly WidgetItem[]
  refreshSeconds: number
  attribution: string
}

const style = `body { margin: 0; font: 14px/1.4 system-ui, sans-serif; color: #1d2a30; background: #fff; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; font-weight: 600; padding: 8px 12px; }
td { padding: 6px 12px; border-top: 1px solid #d9e0e3; }
td + td { text-align: right; font-variant-numeric: tabular-nums; }
small { color: #5c6b72; }
.up { color: #0b6b3a; } .down { color: #a3231c; }
footer { padding: 8px 12px; color: #5c6b72; font-size: 12px; }
@media (prefers-color-scheme: dark) {
  body { background: #14191c; color: #dfe7ea; } td { border-color: #2b353a; } small, footer { color: #98a6ac; }
  .up { color: #5fd097; } .down { color: #ff8f86; }
}`

/** The policy of the page: any site may frame it, and it may load nothing. */
export const widgetPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

const arrows = { up: '▲', down: '▼', flat: '' } as const

function rowOf(item: WidgetItem): string {
  const percent = item.change_24h_percent
  const change =
    percent === null
      ? ''
      : `${arrows[item.direction]} ${percent > 0 ? '+' : ''}${percent.toFixed(2)}%`
  const unit = item.unit.replaceAll('_', ' ')
  return `<tr><td>${escaped(item.name)}<br><small>${escaped(item.code)} · ${escaped(unit)}</small></td><td>${escaped(item.formatted)}</td><td class="${item.direction}">${change}</td></tr>`
}

/** One self-contained HTML document, which reloads itself after `refreshSeconds`. */
export const widgetPage = ({
  title,
  items,
  refreshSeconds,
  attribution,
}: WidgetPage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="${refreshSeconds}">
<title>${escaped(title)}</title>
<style>
${style}
</style>
</head>
<body>
<table>
<caption>${escaped(title)}</caption>
<tbody>
${items.map(rowOf).join('\n')}
</tbody>
</table>
<footer>${escaped(attribution)}</footer>
</body>
</html>
`
