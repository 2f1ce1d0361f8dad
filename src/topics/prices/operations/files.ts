import { scopeOfDataset } from '../../../database/datasets.ts'
import { rangeHolds, rangeOf } from '../../../http/answer/range.ts'
import { isUnmodified } from '../../../http/answer/reply.ts'
import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { envelope, type Reply, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { featureMissing, hasScope, scopeMissing } from '../../../http/problem/refusals.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { dayMs, isoInstant, mailInstant } from '../../../lib/time/instant.ts'
import { type Entitlements, tierOf } from '../../../plans/plans.ts'
import { fileKinds, type PriceFile } from '../service/exports/price-files.ts'

const rowsOfPrice = 10_000
const linkMs = dayMs

const Instant = t.String({ format: 'date-time' })
const fileFields = (name: string) => ({
  name: t.String({ examples: [name] }),
  url: t.string('URL of the file; requires an API key.'),
  size: t.integer('Bytes.', 4_812_345),
  rows: t.integer({ examples: [1_048_576] }),
  sha256: t.string('SHA-256 of the file, also its `ETag`.'),
  changed_at: t.instant('When the content last changed.'),
})
const FileList = envelope(
  t.object('PriceFiles', {
    made_at: t.instant('When the files were last updated.'),
    count: t.integer('Number of `files`.', 11),
    files: t.objects(
      'Prices, oldest year first, then the other datasets that the plan and the scopes of the key include.',
      {
        kind: t.string(
          '`prices`: current values; `vintages`: also every value that was replaced or deleted; `datasets`: current rows of a dataset; the name of a dataset: also every row that was replaced or removed.',
          'prices',
        ),
        year: t.orNull(
          t.integer({ examples: [2026] }),
          'Of the observations (UTC); of a dataset, of the date in the key of a row, or of its recording. Null: all years.',
        ),
        ...fileFields('2026.parquet'),
        dataset: t.Optional(t.string('Name of the dataset; absent for prices.', 'rig-counts')),
      },
    ),
    datasets: t.objects('Those of `files` that have a `dataset`.', {
      kind: t.string('As in `files`.', 'datasets'),
      dataset: t.string('Name of the dataset.', 'rig-counts'),
      year: t.orNull(t.integer({ examples: [2026] }), 'As in `files`.'),
      ...fileFields('rig-counts.parquet'),
    }),
  }),
)
const Link = envelope(
  t.object('PriceFileLink', {
    url: t.string('URL of the file without a key.'),
    expires_at: Instant,
  }),
)

/** The last part of a link without a key. */
const linkedName = ({ kind, name }: PriceFile) => (kind === 'prices' ? name : `${kind}-${name}`)

const vintageColumns =
  'Returns a Parquet file, or with `Range` a part of it, with all that was ever known of the values of a year: code, observed_at, value, currency, unit, source, batch, valid_from, valid_to (null: current), by code, time and recording. `as_of` a moment are the rows with `valid_from` at or before it and `valid_to` null or after it. Charged as a price file.'

const named = { name: t.string('The name of a file of the list.', '2026.parquet') }
const ofDataset = { dataset: t.string('The name of a dataset.', 'rig-counts'), ...named }
const fileBody = t.String({
  contentMediaType: 'application/vnd.apache.parquet',
  description: 'The file, or with `Range` a part of it (206).',
})

/** How the operations of each kind are named, and what a file of it is. */
const kinds = {
  prices: {
    noun: 'price',
    content:
      "Returns a Parquet file, or with `Range` a part of it, as DuckDB and pandas read it. Charged by the share of rows sent (the plan's `export_requests_per_10k_rows`), at least one request.",
  },
  vintages: { noun: 'vintage', content: vintageColumns },
  datasets: {
    noun: 'dataset',
    content:
      'Returns a Parquet file, or with `Range` a part of it, with the current rows of a dataset other than prices, in the columns of its import and with `recorded_at`; rows that may not be redistributed are excluded. It needs the plan feature and the key scope of the endpoints of the dataset. Charged as a price file.',
  },
  ':dataset': {
    noun: 'dataset vintage',
    content:
      'Returns a Parquet file, or with `Range` a part of it, with every row of a year that a dataset has or ever had, in the columns of its import, with `valid_from` and `valid_to` (null: current). The year is that of the date in the key of a row, or of its recording where the key has no date. It needs the plan feature and the key scope of the endpoints of the dataset. Charged as a price file.',
  },
} as const

/** The dataset of a file; one of prices has none. */
const datasetOf = ({ kind, name }: PriceFile): string | undefined => {
  if (kind === 'prices' || kind === 'vintages') return undefined
  return kind === 'datasets' ? name.replace(/\.parquet$/, '') : kind
}

type FoundFile = PriceFile & { path: string }

/** Finds the files of a night, for callers whose plan and scopes include them. */
function createFileAccess({ datasets, links, plans, priceFiles }: Context) {
  const manifest = async () => {
    const stored = await priceFiles.manifest()
    if (!stored)
      throw new Problem('DATA_NOT_AVAILABLE', 'No files yet: they are generated nightly.')
    return stored
  }
  const find = async (isWanted: (file: PriceFile) => boolean): Promise<FoundFile> => {
    const file = (await manifest()).files.find(isWanted)
    if (!file) throw new Problem('NOT_FOUND', 'Unknown file. GET /v1/files lists the files.')
    return { ...file, path: priceFiles.pathOf(file) }
  }
  /** The slice that every plan has of exports is not one of files. */
  const checkPlan = (entitled: Entitlements, request: Request) => {
    if (tierOf(plans, entitled.tier).access.bulk_export === 'allowance')
      throw featureMissing(plans, links(request), entitled, 'bulk_export')
  }
  /** Why a caller may not read the dataset of a file. */
  const refusalOf = (file: PriceFile, { key, entitled }: Caller, request: Request) => {
    const dataset = datasets.find(({ name }) => name === datasetOf(file))
    if (!dataset) return undefined
    if (dataset.feature !== undefined && !entitled.features.has(dataset.feature))
      return featureMissing(plans, links(request), entitled, dataset.feature)
    const scope = scopeOfDataset(dataset.name)
    return hasScope(key, scope)
      ? undefined
      : scopeMissing(key, scope, `the dataset ${dataset.name}`)
  }
  const readable = async (kind: string, name: string, caller: Caller, request: Request) => {
    checkPlan(caller.entitled, request)
    const file = await find(entry => entry.kind === kind && entry.name === name)
    const refusal = refusalOf(file, caller, request)
    if (refusal) throw refusal
    return file
  }
  return { manifest, find, checkPlan, refusalOf, readable }
}

const priceOf = ({ rows }: PriceFile, { exportRequestsPer10kRows }: Entitlements) =>
  Math.ceil(rows / rowsOfPrice) * exportRequestsPer10kRows

/** Sends a file, or the part that the request asks for; `price`: of the whole file, in requests. */
function sendFile(file: FoundFile, request: Request, reply: Reply, price: number) {
  const { headers } = reply
  const etag = `"${file.sha256}"`
  const modified = mailInstant(file.changedAt)
  Object.assign(headers, {
    'content-type': 'application/vnd.apache.parquet',
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    'last-modified': modified,
    etag,
  })
  if (isUnmodified(request, etag, file.changedAt)) return new Response(null, { status: 304 })
  const range = rangeHolds(request, etag, modified)
    ? rangeOf(request.headers.get('range'), file.bytes)
    : undefined
  if (range === 'none') {
    headers['content-range'] = `bytes */${file.bytes}`
    throw new Problem('RANGE_NOT_SATISFIABLE', `The file has ${file.bytes} bytes.`)
  }
  const { first, last } = range ?? { first: 0, last: file.bytes - 1 }
  const length = last - first + 1
  if (range) headers['content-range'] = `bytes ${first}-${last}/${file.bytes}`
  const share = Math.max(1, Math.ceil((price * length) / file.bytes))
  headers['x-quota-requests'] = String(share)
  // The server leaves out the body of a HEAD, and sends its length.
  const body = Bun.file(file.path).slice(first, last + 1)
  return new Response(body, { status: range ? 206 : 200 })
}

/** All data as files of a night that tools read over the network. */
export function fileOperations(deps: Context) {
  const access = createFileAccess(deps)
  return [
    listOperation(deps, access),
    ...[...fileKinds, ':dataset' as const].flatMap(kind => kindOperations(kind, deps, access)),
    linkedOperation(deps, access),
  ]
}

type FileAccess = ReturnType<typeof createFileAccess>

/** Downloads of a kind of files, and links to them. */
function kindOperations(
  kind: keyof typeof kinds,
  { links, now, priceFiles }: Context,
  access: FileAccess,
) {
  const { noun, content } = kinds[kind]
  const name = `${noun
    .split(' ')
    .map(word => word[0]!.toUpperCase() + word.slice(1))
    .join('')}File`
  const ownParams = kind === ':dataset' ? ofDataset : named
  const requested = (params: Readonly<Record<string, string>>, caller: Caller, request: Request) =>
    access.readable(kind === ':dataset' ? params.dataset! : kind, params.name!, caller, request)
  return [
    operation(`GET /v1/files/${kind}/:name`, {
      operationId: `get${name}`,
      summary: `Download a ${noun} file`,
      description: content,
      access: { meter: true, feature: 'bulk_export', weighed: true },
      params: ownParams,
      answers: { 200: fileBody, 416: NestedProblem },
      handle: async ({ params, request, reply, caller }) => {
        const file = await requested(params, caller, request)
        return sendFile(file, request, reply, priceOf(file, caller.entitled))
      },
    }),
    operation(`GET /v1/files/${kind}/:name/link`, {
      operationId: `get${name}Link`,
      summary: `Create a signed link to a ${noun} file`,
      description: `Returns a link to a ${noun} file for tools that cannot send headers. Anyone with the link can download the file for 24 hours. It is charged as the whole file.`,
      access: { meter: true, feature: 'bulk_export', weighed: true },
      params: ownParams,
      answers: Link,
      handle: async ({ params, request, reply, caller }) => {
        const file = await requested(params, caller, request)
        const expiresAt = now() + linkMs
        const { baseUrl } = links(request)
        reply.headers['x-quota-requests'] = String(priceOf(file, caller.entitled))
        const linked = linkedName(file)
        const signature = priceFiles.sign(linked, expiresAt)
        return success({
          url: `${baseUrl}/files/${expiresAt}/${signature}/${linked}`,
          expires_at: isoInstant(expiresAt),
        })
      },
    }),
  ]
}

const listOperation = ({ links }: Context, access: FileAccess) =>
  operation('GET /v1/files', {
    operationId: 'listPriceFiles',
    summary: 'List nightly price files',
    description:
      'Returns the list of Parquet files: two for each year (UTC) with the prices of every code, and those of each other dataset, which are also in `datasets`. Select by `kind`: `prices` are the current values: code, observed_at, price, currency, unit; row groups by code and time, so reading one code fetches little. `vintages` contain every value that was ever known, with `valid_from` and `valid_to`. Generated after 02:00 UTC if the operator has set `files.directory`. A file whose prices did not change keeps its content.',
    access: { meter: true, feature: 'bulk_export' },
    answers: { 200: FileList, 404: NestedProblem },
    handle: async ({ request, caller }) => {
      access.checkPlan(caller.entitled, request)
      const manifest = await access.manifest()
      const { baseUrl } = links(request)
      const fieldsOf = (file: PriceFile) => ({
        name: file.name,
        url: `${baseUrl}/v1/files/${file.kind}/${file.name}`,
        size: file.bytes,
        rows: file.rows,
        sha256: file.sha256,
        changed_at: isoInstant(file.changedAt),
      })
      const ofPrices = (['prices', 'vintages'] as const).flatMap(kind =>
        manifest.files
          .filter(file => file.kind === kind)
          .map(file => ({ kind, year: Number.parseInt(file.name, 10), ...fieldsOf(file) })),
      )
      const ofDatasets = manifest.files.flatMap(file => {
        const [kind, dataset] = [file.kind, datasetOf(file)]
        if (dataset === undefined || access.refusalOf(file, caller, request)) return []
        const year = kind === 'datasets' ? null : Number.parseInt(file.name, 10)
        return [{ kind, dataset, year, ...fieldsOf(file) }]
      })
      const all = [...ofPrices, ...ofDatasets]
      return success({
        made_at: isoInstant(manifest.madeAt),
        count: all.length,
        files: all,
        datasets: ofDatasets,
      })
    },
  })

const linkedOperation = ({ priceFiles }: Context, access: FileAccess) =>
  operation('GET /files/:expires/:signature/:name', {
    operationId: 'getPriceFileByLink',
    summary: 'Download a price file by its signed link',
    description:
      'Returns the file; `Range` requests are accepted. Get the link from `GET /v1/files/prices/{name}/link`.',
    access: { open: 'The link is signed.', rate: 'none' },
    params: {
      expires: t.string('Expiry of the link, Unix ms.', '1796083200000'),
      signature: t.string('Signature of the link.', '6f1c'),
      name: t.string('The name of a file of the list.', '2026.parquet'),
    },
    answers: { 200: fileBody, 416: NestedProblem },
    handle: async ({ params, request, reply }) => {
      const { name, expires, signature } = params
      if (!priceFiles.accepts(name, Number(expires), signature))
        throw new Problem('NOT_FOUND', 'The link is not valid or has expired.')
      const file = await access.find(entry => linkedName(entry) === name)
      return sendFile(file, request, reply, 0)
    },
  })
