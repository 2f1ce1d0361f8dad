import { contentOf, type Source, stored } from '../files/source.ts'

/** The whole content of a source. Throws a sentence where it is more than `bytesMax`. */
export async function wholeOf(source: Source, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of contentOf(source)) {
    chunks.push(chunk)
    length += chunk.length
    if (length > bytesMax)
      throw new Error(
        `${source.name} has more than ${Math.round(bytesMax / 1024 / 1024)} MB: such a file is read as a whole; save it as CSV or as one JSON object a line`,
      )
  }
  return Buffer.concat(chunks)
}

/** A source with new content, under the same name. Closing it also closes the original source. */
export async function spooled(
  source: Source,
  directory: string,
  content: AsyncIterable<string | Uint8Array> | Iterable<string>,
): Promise<Source> {
  const { close, ...file } = await stored(content, directory)
  return {
    name: source.name,
    ...file,
    async close() {
      await close()
      await source.close()
    },
  }
}

/** A line of CSV; a field with a comma or a quote is in quotes, line breaks become spaces. */
export const csvLine = (fields: readonly (string | number | undefined)[]): string =>
  `${fields.map(fieldOf).join(',')}\n`

function fieldOf(field: string | number | undefined): string {
  const text = String(field ?? '').replaceAll(/[\r\n]+/g, ' ')
  return /[",;\t|]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
