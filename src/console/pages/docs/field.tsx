import { exampleOfParameter, type Parameter, type Schema } from './document.ts'

/** The schema of the values themselves, where it is one of several. */
const valuesOf = (schema: Schema | undefined): Schema =>
  (schema?.anyOf ?? schema?.oneOf)?.find(({ type }) => type !== 'null') ?? schema ?? {}

/** What a browser takes for a value of the schema; a text where it knows nothing better. */
function inputOf({ type, minimum, maximum }: Schema) {
  if (type === 'integer' || type === 'number')
    return {
      type: 'number' as const,
      step: type === 'integer' ? 1 : 'any',
      ...(minimum !== undefined && { min: minimum }),
      ...(maximum !== undefined && { max: maximum }),
    }
  return { type: 'text' as const }
}

const momentText = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::00(?:\.000)?)?Z)?$/

/** A day, and a time of it in UTC where the schema takes one. */
function Moment({ id, formats, value, onChange }: MomentProps) {
  const [, day = '', time = ''] = momentText.exec(value) ?? []
  const takesDays = formats.includes('date')
  const set = (nextDay: string, nextTime: string) => {
    const sent = nextTime || (takesDays ? '' : '00:00')
    onChange(nextDay && sent ? `${nextDay}T${sent}:00Z` : nextDay)
  }
  return (
    <div class="row">
      <input
        id={id}
        type="date"
        value={day}
        onInput={event => set(event.currentTarget.value, time)}
      />
      {formats.includes('date-time') && (
        <input
          type="time"
          aria-label="Time, UTC"
          title={takesDays ? 'UTC; empty for the whole day' : 'UTC'}
          value={time}
          disabled={day === ''}
          onInput={event => set(day, event.currentTarget.value)}
        />
      )}
    </div>
  )
}

interface MomentProps {
  id: string
  formats: readonly (string | undefined)[]
  value: string
  onChange: (value: string) => void
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
            {schema.default === undefined ? 'Not sent' : `Not sent (default: ${schema.default})`}
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
  const formats = (parameter.schema?.anyOf ?? [schema]).map(({ format }) => format)
  const isMoment = formats.some(format => format === 'date' || format === 'date-time')
  // What a link brought in another form, such as a time with seconds, stays a text.
  if (isMoment && (value === '' || momentText.test(value)))
    return <Moment id={id} formats={formats} value={value} onChange={onChange} />
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
