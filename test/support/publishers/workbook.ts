import { strToU8, zipSync } from 'fflate'

export type Written = string | number | undefined

const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

function column(index: number): string {
  const mailMessage = String.fromCharCode(65 + (index % 26))
  return index < 26 ? mailMessage : column(Math.floor(index / 26) - 1) + mailMessage
}

/** An `.xlsx` workbook: its sheets by name, each a list of rows; texts are shared as spreadsheets write them. */
export function workbookOf(
  sheets: Readonly<Record<string, readonly (readonly Written[])[]>>,
): Uint8Array {
  const texts = new Map<string, number>()
  const shared = (text: string) => {
    if (!texts.has(text)) texts.set(text, texts.size)
    return texts.get(text)!
  }
  const cell = (value: Written, row: number, index: number) => {
    const at = `r="${column(index)}${row}"`
    if (value === undefined) return ''
    if (typeof value === 'number') return `<c ${at}><v>${value}</v></c>`
    return `<c ${at} t="s"><v>${shared(value)}</v></c>`
  }
  const names = Object.keys(sheets)
  const files: Record<string, Uint8Array> = {}
  for (const [i, name] of names.entries()) {
    const rows = sheets[name]!.map(
      (row, r) =>
        `<row r="${r + 1}">${row.map((value, c) => cell(value, r + 1, c)).join('')}</row>`,
    )
    files[`xl/worksheets/sheet${i + 1}.xml`] = strToU8(
      `<?xml version="1.0" encoding="UTF-8"?>\n<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows.join('')}</sheetData></worksheet>`,
    )
  }
  files['xl/workbook.xml'] = strToU8(
    `<?xml version="1.0" encoding="UTF-8"?>\n<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>${names
      .map((name, i) => `<sheet name="${escaped(name)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`)
      .join('')}</sheets></workbook>`,
  )
  files['xl/_rels/workbook.xml.rels'] = strToU8(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${names
      .map(
        (_, i) =>
          `<Relationship Id="rId${i + 1}" Type="worksheet" Target="worksheets/sheet${i + 1}.xml"/>`,
      )
      .join('')}</Relationships>`,
  )
  files['xl/sharedStrings.xml'] = strToU8(
    `<?xml version="1.0" encoding="UTF-8"?>\n<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">${[
      ...texts.keys(),
    ]
      .map(text => `<si><t xml:space="preserve">${escaped(text)}</t></si>`)
      .join('')}</sst>`,
  )
  // Made twice it is the same file, as a publisher's is.
  return zipSync(files, { mtime: '2026-01-01T00:00:00Z' })
}
