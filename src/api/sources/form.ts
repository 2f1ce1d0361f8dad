import { t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { type Form, formBody, formOf } from '../../http/input/form.ts'
import { validationFailed } from '../../http/problem/problem.ts'
import { isObject, isPlainJson } from '../../lib/json.ts'
import { isPlain } from '../../lib/text.ts'
import {
  authKinds,
  type Credentials,
  intervalMinutes,
  rowFields,
  sourceConfig,
  sourceFormats,
} from '../../plan/source-config.ts'
import { isSynced, type SourceChange } from '../../service/sources/sources.ts'

const nameMax = 100
const configCharactersMax = 16_384
const credentialsMax = 20
const credentialName = /^[\w.-]{1,64}$/
const credentialCharactersMax = 4096
const typePattern = /^[a-z0-9][a-z0-9_.-]{0,39}$/

const fieldNames = t.Partial(
  t.Object(Object.fromEntries(rowFields.map(name => [name, t.String()]))),
)
const configBody = t.Object(
  {
    url: t.Optional(
      t.String({
        examples: ['https://prices.example.com/bunkers.json'],
        description: '`api`: the address, https and public.',
      }),
    ),
    path: t.Optional(
      t.String({
        examples: ['terminal/today.csv'],
        description: "`file`: below the operator's directory.",
      }),
    ),
    format: t.Optional(
      t.Union(
        sourceFormats.map(format => t.Literal(format)),
        { description: 'Told from the content when absent.' },
      ),
    ),
    items: t.Optional(
      t.String({ examples: ['data.prices'], description: 'Where in JSON the list is.' }),
    ),
    fields: t.Optional({
      ...fieldNames,
      description: 'What a row calls each field: `{"price": "usd.mid"}`.',
    }),
    defaults: t.Optional({
      ...fieldNames,
      description: 'What stands for a field that rows lack: `{"port": "SINGAPORE"}`.',
    }),
    auth: t.Optional(
      t.Union(
        authKinds.map(kind => t.Literal(kind)),
        { description: 'How the credentials are sent; told from them when absent.' },
      ),
    ),
    auth_header: t.Optional(
      t.String({ examples: ['X-API-Key'], description: 'With auth `header`.' }),
    ),
    interval_minutes: t.Optional(
      integer({
        minimum: intervalMinutes.min,
        maximum: intervalMinutes.max,
        examples: [intervalMinutes.default],
      }),
    ),
  },
  { additionalProperties: true, description: 'Other members are kept and mean nothing.' },
)
const credentialsBody = t.Record(t.String(), t.String(), {
  description:
    'Write-only. `token` goes out as a bearer token, `username` and `password` as basic, `api_key` in the header `auth_header`. Of type `webhook`: `secret`, at least 16 characters.',
  examples: [{ token: 'example' }],
})
const writable = {
  name: t.String({ maxLength: nameMax, examples: ['Terminal feed'] }),
  status: t.Optional(t.Union([t.Literal('active'), t.Literal('paused')])),
  credentials: t.Optional(t.Union([credentialsBody, t.Null()])),
  scraper_config: t.Optional(t.Union([configBody, t.Null()])),
}
const sourceType = t.String({
  examples: ['api'],
  description:
    '`api`, `file` and `webhook` are synced; `database`, `sftp`, `custom` and others are kept and say that they are not.',
})

export const newSourceBody = formBody(
  t.Object({ data_source: t.Object({ ...writable, source_type: sourceType }) }),
)
export const sourceChangeBody = formBody(t.Object({ data_source: t.Partial(t.Object(writable)) }))
export const rotateBody = formBody(t.Object({ credentials: credentialsBody }))

export interface SourceFormDeps {
  /** Why a target may not be called; undefined when it may. */
  checkTarget(url: string): string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** The fields of a source, wrapped in `data_source` or bare. */
function unwrapped(body: unknown): unknown {
  if (!isObject(body) || !Object.hasOwn(body, 'data_source')) return body
  if (isObject(body.data_source)) return body.data_source
  throw validationFailed([
    { field: 'data_source', message: 'data_source: must be a JSON object.', value: null },
  ])
}

/** Reads what is written of data sources. */
export function createSourceForms({ checkTarget }: SourceFormDeps) {
  const read = (body: unknown, source: { sourceType: string } | undefined) => {
    const { form, credentials, fields } = secretive(unwrapped(body))
    const type = typeOf(form, source?.sourceType)
    if (source === undefined && !form.has('name')) form.fault('name', 'is required.')
    const name = form.text('name', nameMax)?.trim()
    if (name === '') form.fault('name', 'must not be empty.')
    const status = form.choice('status', ['active', 'paused'])
    const scraperConfig = configIn(form, fields, type, checkTarget)
    form.check()
    const change: SourceChange = {
      ...(name !== undefined && { name }),
      ...(status !== undefined && { status }),
      ...(scraperConfig !== undefined && { scraperConfig }),
      ...(credentials !== undefined && { credentials }),
    }
    return { change, type }
  }
  return {
    created(body: unknown): SourceChange & { name: string; sourceType: string } {
      const { change, type } = read(body, undefined)
      return { ...change, name: change.name!, sourceType: type }
    },
    changed: (body: unknown, source: { sourceType: string }): SourceChange =>
      read(body, source).change,
    rotated(body: unknown): Credentials {
      const { form, credentials } = secretive(unwrapped(body))
      if (credentials === undefined || credentials === null)
        form.fault('credentials', 'is required: a JSON object of texts.')
      form.check()
      return credentials!
    },
  }
}

/** The type of a source is what it was made with. */
function typeOf(form: Form, sourceType: string | undefined): string {
  const type = form.text('source_type', 40)?.trim().toLowerCase()
  if (sourceType === undefined && !form.has('source_type'))
    form.fault('source_type', 'is required: api, file, webhook or another word.')
  if (type !== undefined && !typePattern.test(type))
    form.fault('source_type', 'must be a word of letters, digits, dots, hyphens and underscores.')
  if (sourceType !== undefined && type !== undefined && type !== sourceType)
    form.fault('source_type', `can not be changed; this source is of type ${sourceType}.`)
  return type ?? sourceType ?? ''
}

/** Undefined when the body says nothing of it. */
function configIn(
  form: Form,
  fields: Fields,
  type: string,
  checkTarget: SourceFormDeps['checkTarget'],
): Fields | null | undefined {
  if (!form.has('scraper_config')) return undefined
  if (form.isNull('scraper_config')) return null
  const part = form.part('scraper_config')
  const scraperConfig = fields.scraper_config
  if (!isObject(scraperConfig)) return undefined
  const text = JSON.stringify(scraperConfig)
  if (text.length > configCharactersMax || !isPlainJson(text)) {
    form.fault(
      'scraper_config',
      `must be at most ${configCharactersMax} characters of JSON, without unpaired surrogates and null characters.`,
    )
  }
  if (!isSynced(type)) return scraperConfig
  const { config, faults } = sourceConfig(scraperConfig)
  for (const { field, why } of faults) part.fault(field, why)
  const refusal = type === 'api' && config.url !== undefined ? checkTarget(config.url) : undefined
  if (refusal !== undefined) part.fault('url', refusal)
  return scraperConfig
}

/**
 * Refusals repeat what was sent, so credentials are taken out before the body is read. Undefined:
 * the body says nothing of them.
 */
function secretive(body: unknown): {
  form: Form
  fields: Fields
  credentials: Credentials | null | undefined
} {
  const fields = isObject(body) ? body : {}
  const value = Object.hasOwn(fields, 'credentials') ? fields.credentials : undefined
  const form = formOf(value === undefined ? body : { ...fields, credentials: null })
  if (value === undefined || value === null) return { form, fields, credentials: value }
  const why = credentialsFault(value)
  if (why !== undefined) form.fault('credentials', why)
  const isEmpty = isObject(value) && Object.keys(value).length === 0
  return { form, fields, credentials: isEmpty ? null : (value as Credentials) }
}

/** What is wrong, without saying what was sent. */
function credentialsFault(credentials: unknown): string | undefined {
  if (!isObject(credentials)) return 'must be a JSON object of texts.'
  const entries = Object.entries(credentials)
  if (entries.length > credentialsMax) return `must have at most ${credentialsMax} members.`
  if (!entries.every(([name]) => credentialName.test(name)))
    return 'must have names of letters, digits, dots, hyphens and underscores.'
  const isText = (value: unknown) =>
    typeof value === 'string' &&
    value !== '' &&
    value.length <= credentialCharactersMax &&
    isPlain(value)
  return entries.every(([, value]) => isText(value))
    ? undefined
    : `must hold texts of 1 to ${credentialCharactersMax} characters.`
}
