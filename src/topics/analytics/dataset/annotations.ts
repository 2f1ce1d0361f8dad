import { day, text, textOr } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import {
  type DatasetRow,
  neededText,
  refuse,
  seriesNamed,
  textIn,
} from '../../../datasets/fields.ts'

const titleCharactersMax = 200
const descriptionCharactersMax = 2000
const idPattern = /^[a-z0-9][a-z0-9_.:-]{0,99}$/
const categoryPattern = /^[a-z0-9][a-z0-9_]{0,39}$/

const columns = {
  id: {
    required: true,
    description: 'Your id of the note; a row with a known id replaces that note',
    read(row, name) {
      const id = neededText(row, name, 'write an id of your own').toLowerCase()
      return matching(row, name, id, idPattern, 'letters, digits, _ . : -, at most 100')
    },
  } as Column<string>,
  on: day('Day that the note is about', { name: 'date', stored: 'annotated_on' }),
  title: text(
    `One line of at most ${titleCharactersMax} characters`,
    'write one line that says what happened',
    titleCharactersMax,
  ),
  description: {
    description: 'Text of the note; default: the title',
    read: (row, name) => textIn(row, name, descriptionCharactersMax) ?? '',
  } as Column<string>,
  category: {
    description: 'Any one word, such as opec, weather, outage; default: note',
    read(row, name) {
      const word = wordOf(textIn(row, name) ?? 'note')
      return matching(row, name, word, categoryPattern, 'one word')
    },
  } as Column<string>,
  commodity: {
    description: 'Code or alias of the commodity that the note is about',
    stored: 'commodity_code',
    isCode: true,
    read(row, name, { catalogue }) {
      const written = textIn(row, name)
      return written === undefined ? null : seriesNamed(written, name, catalogue).code
    },
  } as Column<string | null>,
  source: textOr('import', 'Source of the note, as shown in responses; default: import'),
}

/** A note on a day of the markets. */
export type Annotation = RecordOf<typeof columns>

export const annotations = dataset({
  name: 'annotations',
  feature: 'calculated_metrics',
  description: 'Notes on events in the markets: the day, what happened, and the commodity.',
  table: 'annotations',
  columns,
  key: ['id'],
  order: 't.annotated_on, t.id',
  example:
    'id,date,title,description,category,commodity\n' +
    'meeting-2026-11,2026-11-05,Producers keep quotas,Quotas stay as they are until the end of the first quarter.,opec,BRENT_CRUDE_USD\n' +
    'storm-2026-09,2026-09-14,Gulf platforms shut,A third of offshore output was shut for four days.,weather,WTI_USD\n',
  read(_row, read): Annotation {
    const title = read.title()
    return read.rest({ title, description: read.description() || title })
  },
})

const wordOf = (text: string) => text.toLowerCase().replaceAll(/[\s-]+/g, '_')

function matching(
  row: DatasetRow,
  field: string,
  text: string,
  pattern: RegExp,
  right: string,
): string {
  return pattern.test(text) ? text : refuse(field, row[field], 'is not accepted', `write ${right}`)
}
