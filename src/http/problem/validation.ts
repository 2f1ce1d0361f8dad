import type { ValidationError } from 'elysia'
import {
  type FieldFault,
  invalidParameter,
  notFound,
  type Problem,
  refusedParameter,
  validationFailed,
} from './problem.ts'

interface Fault {
  path: string
  message: string
  value?: unknown
  schema?: { const?: unknown; pattern?: string; examples?: readonly unknown[] }
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
  const right = rightOf([...(error.all as Iterable<Fault>)][0]?.schema)
  if (right !== undefined) return invalidParameter(parameter, first?.value ?? '', right)
  return refusedParameter(
    parameter,
    first?.value ?? '',
    first?.message ?? 'A parameter is not valid.',
  )
}

/** What a schema of one word or one pattern accepts, in words. */
function rightOf({ const: word, pattern, examples }: Fault['schema'] = {}): string | undefined {
  if (word !== undefined) return String(word)
  return pattern !== undefined && examples?.length ? `in the form of ${examples[0]}` : undefined
}

const lowerFirst = (text: string) => (text ? text[0]!.toLowerCase() + text.slice(1) : text)
