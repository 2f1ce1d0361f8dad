import { t } from '../../../http/answer/schema.ts'
import {
  body,
  choice,
  field,
  nullable,
  optional,
  requiredAs,
} from '../../../http/input/body-schema.ts'
import type { Form } from '../../../http/input/form.ts'
import { isObject, isPlainJson } from '../../../lib/text/json.ts'
import { camelFields } from '../../../lib/text/name-case.ts'
import { isPlain } from '../../../lib/text/text.ts'
import {
  authKinds,
  type Credentials,
  intervalMinutes,
  rowFields,
  sourceConfig,
  sourceFormats,
} from '../../../plans/source-config.ts'
import { isSynced, type SourceChange } from '../service/sources.ts'

const nameMax = 100
const configCharactersMax = 16_384
const credentialsMax = 20
const credentialName = /^[\w.-]{1,64}$/
const credentialCharactersMax = 4096
const typeCharactersMax = 40
const typePattern = /^[a-z0-9][a-z0-9_.-]{0,39}$/

const fieldNames = t.Partial(
  t.Object(Object.fromEntries(rowFields.map(name => [name, t.String()]))),
)
const configSchema = t.Object(
  {
    url: t.Optional(
      t.string('`api`: the address, https and public.', 'https://prices.example.com/bunkers.json'),
    ),
    path: t.Optional(
      t.string("`file`: path inside the operator's directory.", 'terminal/today.csv'),
    ),
    format: t.Optional(t.oneOf(sourceFormats, 'Detected from the content by default.')),
    items: t.Optional(t.string('Path of the list in the JSON document.', 'data.prices')),
    fields: t.Optional({
      ...fieldNames,
      description: 'Source field for each field: `{"price": "usd.mid"}`.',
    }),
    defaults: t.Optional({
      ...fieldNames,
      description: 'Default value for a missing field: `{"port": "SINGAPORE"}`.',
    }),
    auth: t.Optional(
      t.oneOf(authKinds, 'How the credentials are sent. Default: by the kind of credentials.'),
    ),
    auth_header: t.Optional(t.string('With auth `header`.', 'X-API-Key')),
    interval_minutes: t.Optional(
      t.integer({
        minimum: intervalMinutes.min,
        maximum: intervalMinutes.max,
        examples: [intervalMinutes.default],
      }),
    ),
  },
  { additionalProperties: true, description: 'Other members are stored and ignored.' },
)
const credentialsSchema = t.Record(t.String(), t.String(), {
  description:
    'Write-only. `token` is sent as a bearer token, `username` and `password` as HTTP Basic, `api_key` in the header `auth_header`. For type `webhook`: `secret`, at least 16 characters.',
  examples: [{ token: 'example' }],
})

type Fields = Readonly<Record<string, unknown>>

/** Without members they are none: null. */
function readCredentials(form: Form, name: string): Credentials | null | undefined {
  const credentials = form.value(name)
  const why = credentialsFault(credentials)
  if (why !== undefined) return form.secretFault(name, why)
  return Object.keys(credentials as Credentials).length === 0 ? null : (credentials as Credentials)
}

const credentialsField = field(credentialsSchema, readCredentials)

const credentialsNeeded = 'is required: a JSON object of strings.'

const newCredentialsField = field(credentialsSchema, (form, name) => {
  const credentials = form.isNull(name) ? null : readCredentials(form, name)
  return credentials === null ? form.fault(name, credentialsNeeded) : credentials
})

const nameField = field(
  t.String({ maxLength: nameMax, examples: ['Terminal feed'] }),
  (form, name) => {
    const text = form.text(name, nameMax)?.trim()
    return text === '' ? form.fault(name, 'must not be empty.') : text
  },
)

const typeField = field(
  t.string(
    '`api`, `file` and `webhook` are synced; `database`, `sftp`, `custom` and others are stored but not synced.',
    'api',
    { maxLength: typeCharactersMax },
  ),
  (form, name) => typeIn(form, name),
)

function typeIn(form: Form, name: string): string | undefined {
  const type = form.text(name, typeCharactersMax)?.trim().toLowerCase()
  if (type === undefined || typePattern.test(type)) return type
  return form.fault(name, 'must be a word of letters, digits, dots, hyphens and underscores.')
}

const configField = field<Fields>(configSchema, (form, name) => {
  form.part(name)
  const config = form.value(name)
  if (!isObject(config)) return undefined
  const text = JSON.stringify(config)
  if (text.length > configCharactersMax || !isPlainJson(text))
    form.fault(
      name,
      `must be at most ${configCharactersMax} characters of JSON, without unpaired surrogates and null characters.`,
    )
  return config
})

const settings = {
  status: optional(choice(['active', 'paused'] as const)),
  scraper_config: optional(nullable(configField)),
}
const wrapping = { wrapper: 'data_source', documented: 'wrapped' } as const
const exampleConfig = {
  url: 'https://prices.example.com/bunkers.json',
  format: 'json',
  items: 'data.prices',
  fields: { price: 'price', timestamp: 'time', fuel_type: 'grade', port: 'port' },
  interval_minutes: 60,
}

export const NewSourceBody = body(
  {
    credentials: optional(nullable(credentialsField)),
    source_type: requiredAs(typeField, 'is required: api, file, webhook or another type.'),
    name: nameField,
    ...settings,
  },
  {
    ...wrapping,
    example: {
      data_source: { source_type: 'api', name: 'Terminal feed', scraper_config: exampleConfig },
    },
  },
)

export const SourceChangeBody = body(
  {
    credentials: optional(nullable(credentialsField)),
    name: optional(nameField),
    ...settings,
  },
  {
    ...wrapping,
    example: { data_source: { name: 'Terminal feed', scraper_config: exampleConfig } },
  },
)

export const RotateBody = body(
  { credentials: requiredAs(newCredentialsField, credentialsNeeded) },
  { wrapper: 'data_source', documented: 'bare' },
)

export interface SourceFormDeps {
  /** Why a target may not be called; undefined when it may. */
  checkTarget(url: string): string | undefined
}

/** Reads what is written of data sources. */
export function createSourceForms({ checkTarget }: SourceFormDeps) {
  /** Checks the configuration of types that are synced. */
  const judgeConfig = (form: Form, config: Fields | null | undefined, type: string) => {
    if (!config || !isSynced(type)) return
    const part = form.part('scraper_config')
    const { config: sourceSettings, faults } = sourceConfig(config)
    for (const { field, why } of faults) part.fault(field, why)
    const { url } = sourceSettings
    const refusal = type === 'api' && url !== undefined ? checkTarget(url) : undefined
    if (refusal !== undefined) part.fault('url', refusal)
  }
  return {
    created(input: unknown): SourceChange & { name: string; sourceType: string } {
      const { name, source_type, ...change } = NewSourceBody.read(input, (form, values) =>
        judgeConfig(form, values.scraper_config, values.source_type ?? ''),
      )
      return { ...changeFrom(change), name, sourceType: source_type }
    },
    changed: (input: unknown, source: { sourceType: string }): SourceChange =>
      changeFrom(
        SourceChangeBody.read(input, (form, values) => {
          const type = typeIn(form, 'source_type')
          if (type !== undefined && type !== source.sourceType)
            form.fault(
              'source_type',
              `must not change; this source is of type ${source.sourceType}.`,
            )
          judgeConfig(form, values.scraper_config, type ?? source.sourceType)
        }),
      ),
    rotated: (input: unknown): Credentials => RotateBody.read(input).credentials,
  }
}

type ChangeValues = Partial<ReturnType<typeof SourceChangeBody.read>>

const changeFrom = (values: ChangeValues): SourceChange => camelFields(values)

/** The fault of credentials, in words that do not repeat them. */
function credentialsFault(credentials: unknown): string | undefined {
  if (!isObject(credentials)) return 'must be a JSON object of strings.'
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
    : `must have values of 1 to ${credentialCharactersMax} characters.`
}
