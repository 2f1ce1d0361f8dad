import { exampleOfParameter, type Parameter, type Schema } from './document.ts'

/** The schema of the values themselves, where it is one of several. */
const valuesOf = (schema: Schema | undefined): Schema =>
  (schema?.anyOf ?? schema?.oneOf)?.find(({ type }) => type !== 'null') ?? schema ?? {}

/** What a browser takes for a value of the schema; a text where it knows nothing better. */
function inputOf({ type, format, minimum, maximum }: Schema) {
  if (type === 'integer' || type === 'number')
    return {
      type: 'number' as const,
      step: type === 'integer' ? 1 : 'any',
      ...(minimum !== undefined && { min: minimum }),
      ...(maximum !== undefined && { max: maximum }),
    }
  if (format === 'date') return { type: 'date' as const }
  return { type: 'text' as const }
}

interface FieldProps {
  parameter: Parameter
  value: string
  onChange: (value: string) => void
}

/** The field of a parameter, by its schema: a choice, a date, a number, or a text. */
export function Field({ parameter, value, onChange }: FieldProps) {
  const schema = valuesOf(parameter.schema)
  const id = `parameter-${parameter.name}`
  const options = schema.enum ?? (schema.type === 'boolean' ? [true, false] : undefined)
  if (options)
    return (
      <select id={id} value={value} onChange={event => onChange(event.currentTarget.value)}>
        {(!parameter.required || value === '') && (
          <option value="">
            {schema.default === undefined ? 'not sent' : `not sent: ${schema.default}`}
          </option>
        )}
        {options.map(option => (
          <option key={String(option)} value={String(option)}>
            {String(option)}
          </option>
        ))}
        {/* What a link brought stays, so that the refusal of it can be seen. */}
        {value !== '' && !options.some(option => String(option) === value) && (
          <option value={value}>{value}</option>
        )}
      </select>
    )
  return (
    <input
      id={id}
      {...inputOf(schema)}
      value={value}
      placeholder={exampleOfParameter(parameter)}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      onInput={event => onChange(event.currentTarget.value)}
    />
  )
}
