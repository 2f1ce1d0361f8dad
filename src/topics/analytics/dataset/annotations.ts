import {
  checked,
  type DatasetRow,
  neededPastDay,
  neededText,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'
import type { Annotation, AnnotationStore } from '../store/annotations.ts'

const titleCharactersMax = 200
const descriptionCharactersMax = 2000
const idPattern = /^[a-z0-9][a-z0-9_.:-]{0,99}$/
const categoryPattern = /^[a-z0-9][a-z0-9_]{0,39}$/

export function createAnnotationsDataset(
  store: AnnotationStore,
  catalogue: CodeLookup,
): Dataset<Annotation> {
  return {
    name: 'annotations',
    description: 'Notes on days of the markets: what happened, and to which commodity.',
    columns: [
      {
        name: 'id',
        required: true,
        description: 'Your own id of the note; under a known id it replaces what is there',
      },
      { name: 'date', required: true, description: 'Day that it is about' },
      {
        name: 'title',
        required: true,
        description: `One line of at most ${titleCharactersMax} characters`,
      },
      { name: 'description', required: false, description: 'The note itself; default: the title' },
      {
        name: 'category',
        required: false,
        description: 'One word of your own, such as opec, weather, outage; default: note',
      },
      {
        name: 'commodity',
        required: false,
        description: 'Code or alias of the commodity that it is about',
      },
      {
        name: 'source',
        required: false,
        description: 'Whose note it is, as answers name it; default: import',
      },
    ],
    example:
      'id,date,title,description,category,commodity\n' +
      'meeting-2026-11,2026-11-05,Producers keep quotas,Quotas stay as they are until the end of the first quarter.,opec,BRENT_CRUDE_USD\n' +
      'storm-2026-09,2026-09-14,Gulf platforms shut,A third of offshore output was shut for four days.,weather,WTI_USD\n',
    key: ['id'],
    check: (row, now) =>
      checked(() => {
        const title = neededText(
          row,
          'title',
          'write one line that says what happened',
          titleCharactersMax,
        )
        return {
          id: matching(
            row,
            'id',
            neededText(row, 'id', 'write an id of your own').toLowerCase(),
            idPattern,
            'letters, digits, _ . : -, at most 100',
          ),
          on: neededPastDay(row, 'date', now),
          title,
          description: textIn(row, 'description', descriptionCharactersMax) ?? title,
          category: matching(
            row,
            'category',
            wordOf(textIn(row, 'category') ?? 'note'),
            categoryPattern,
            'one word',
          ),
          commodity: commodityIn(row, catalogue),
          source: textIn(row, 'source', 40) ?? 'import',
        }
      }),
    write: (records, recordedAt) => store.write(records, recordedAt),
  }
}

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

function commodityIn(row: DatasetRow, catalogue: CodeLookup): string | null {
  const text = textIn(row, 'commodity')
  if (text === undefined) return null
  const series = catalogue.find(text)
  if (series) return series.code
  const near = catalogue.nearest(text)
  return refuse(
    'commodity',
    text,
    'is not in the catalogue',
    near ? `did you mean ${near}?` : 'wellhead codes search WORD finds the codes',
  )
}
