import type { ValidationError } from 'elysia'
import { type FieldFault, notFound, Problem, validationFailed } from './problem.ts'

interface Fault {
  path: string
  message: string
  value?: unknown
  schema?: { error?: unknown; description?: string }
}

/**
 * A schema that did not fit: a parameter is 400 and names it, a body is 422 with every field at
 * fault, and a path that cannot be read names nothing.
 */
export function problemOfValidation(error: ValidationError): Problem {
  if (error.type === 'params') return notFound('The resource')
  const faults: FieldFault[] = [...(error.all as Iterable<Fault>)].map(fault => ({
    field: fault.path.slice(1).replaceAll('/', '.'),
    message: `${fault.path.slice(1).replaceAll('/', '.') || 'body'}: ${lowerFirst(fault.message)}`,
    value: fault.value ?? null,
  }))
  if (error.type === 'body')
    return validationFailed(
      faults.filter((fault, i) => faults.findIndex(other => other.field === fault.field) === i),
    )
  const first = faults[0]
  const parameter = first?.field ?? ''
  return new Problem('INVALID_PARAMETER', first?.message ?? 'A parameter is not valid.', {
    parameter,
    value: String(first?.value ?? ''),
  })
}

const lowerFirst = (text: string) => (text ? text[0]!.toLowerCase() + text.slice(1) : text)
