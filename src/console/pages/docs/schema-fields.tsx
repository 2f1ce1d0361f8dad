import { type OpenApi, resolved, type Schema } from './document.ts'
import { Inline } from './markdown.tsx'

const depthMax = 5

function typeOf(schema: Schema, document: OpenApi): string {
  const whole = resolved(schema, document)
  if (whole.enum) return whole.enum.map(value => JSON.stringify(value)).join(' | ')
  const parts = whole.anyOf ?? whole.oneOf
  if (parts) return [...new Set(parts.map(part => typeOf(part, document)))].join(' or ')
  const name =
    whole.type === 'array' && whole.items ? `${typeOf(whole.items, document)}[]` : whole.type
  return `${name ?? 'any'}${whole.format ? ` (${whole.format})` : ''}${whole.nullable ? ' or null' : ''}`
}

/** The inner schema whose fields are shown. */
function fieldsOf(schema: Schema, document: OpenApi): Schema[] {
  const whole = resolved(schema, document)
  if (whole.properties) return [whole]
  if (whole.items) return fieldsOf(whole.items, document)
  return (whole.anyOf ?? whole.oneOf ?? whole.allOf ?? []).flatMap(part => fieldsOf(part, document))
}

export function Fields({
  schema,
  document,
  depth,
}: {
  schema: Schema
  document: OpenApi
  depth: number
}) {
  const shapes = fieldsOf(schema, document)
  if (shapes.length === 0) return <p class="code">{typeOf(schema, document)}</p>
  return (
    <>
      {shapes.map((shape, i) => (
        <ul class="fields" key={String(i)}>
          {Object.entries(shape.properties ?? {}).map(([name, field]) => {
            const inner = resolved(field, document)
            const isDeep = depth < depthMax && fieldsOf(field, document).length > 0
            const head = (
              <>
                <code>{name}</code>{' '}
                <span class="quiet small">
                  {typeOf(field, document)}
                  {shape.required?.includes(name) === false && ', optional'}
                </span>
              </>
            )
            const about = inner.description && (
              <div class="small">
                <Inline text={inner.description} />
              </div>
            )
            return (
              <li key={name}>
                {isDeep ? (
                  <details open={depth < 1}>
                    <summary>{head}</summary>
                    {about}
                    <Fields schema={field} document={document} depth={depth + 1} />
                  </details>
                ) : (
                  <>
                    {head}
                    {about}
                  </>
                )}
              </li>
            )
          })}
        </ul>
      ))}
    </>
  )
}
