import { join, resolve } from 'node:path'
import { declaredDatasets } from '../src/database/datasets.ts'
import type { Declared, DescribedColumn } from '../src/datasets/dataset.ts'

/** The page of the documentation that lists the columns of every dataset. */
export const datasetPage = 'docs/reference/dataset-columns.md'

const escaped = (text: string) => text.replaceAll('|', '\\|')

const rowOf = ({ name, required, description }: DescribedColumn): string =>
  `| \`${name}\` | ${required ? 'yes' : ''} | ${escaped(description)} |`

const sectionOf = ({ name, description, columns, key, example, revisions }: Declared): string =>
  `## ${name}

${description} Rows are identified by ${key.map(column => `\`${column}\``).join(', ')}.${revisions ? ' Replaced rows are kept, so `as_of` reads return what was known at a moment.' : ''}

| column | required | |
|---|---|---|
${columns.map(rowOf).join('\n')}

\`\`\`csv
${example.trim()}
\`\`\`
`

/** The page, made from the declarations. */
export const datasetPageText = (): string =>
  `# Columns of datasets

Every dataset takes CSV or newline-delimited JSON with these columns, and \`recorded_at\`: since when a row is known.
[Datasets](datasets.md) describes how to import files. This page is made from the declarations in
\`src/topics/*/dataset\` by \`bun run datasets\`.

${declaredDatasets.map(sectionOf).join('\n')}`

if (import.meta.main)
  await Bun.write(join(resolve(import.meta.dir, '..'), datasetPage), datasetPageText())
