import { type DatasetRow, neededText, refuse, textIn, wordIn } from '../../../datasets/fields.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'
import type { CarrierMode, CarrierService } from '../store/surcharges.ts'

/** The index that tables are read at unless they say another: US on-highway diesel. */
export const defaultIndex = 'DIESEL_US_NATIONAL_USD'

const modes: readonly CarrierMode[] = ['ltl', 'parcel']
const codePattern = /^[a-z0-9][a-z0-9_-]{0,39}$/
/** A part of paths already. */
const reserved = new Set(['parcel'])

export const serviceColumns = [
  {
    name: 'carrier',
    required: true,
    description: 'Code of the carrier: lower-case letters, digits, - and _, at most 40',
  },
  { name: 'carrier_name', required: true, description: 'Its name' },
  { name: 'mode', required: false, description: 'ltl (default) or parcel' },
  {
    name: 'service_level',
    required: false,
    description: 'Code of the service, such as ground; parcel only and there required',
  },
  { name: 'service_name', required: false, description: 'Its name; default: the code' },
] as const

/** The service that a row is about and its names. */
export function serviceIn(
  row: DatasetRow,
): CarrierService & { carrierName: string; serviceName: string } {
  const mode = wordIn(row, 'mode', modes, 'ltl')
  const carrier =
    codeIn(row, 'carrier') ??
    refuse('carrier', undefined, '', 'write the code of the carrier, such as alder')
  if (reserved.has(carrier))
    refuse('carrier', carrier, 'is part of the paths of this service', 'write another code')
  const serviceLevel = codeIn(row, 'service_level')
  if (mode === 'parcel' && serviceLevel === undefined)
    refuse('service_level', undefined, '', 'a parcel carrier has one, such as ground')
  if (mode === 'ltl' && serviceLevel !== undefined)
    refuse('service_level', serviceLevel, 'does not go with mode ltl', 'leave it empty')
  const carrierName = neededText(row, 'carrier_name', 'write the name of the carrier')
  return {
    mode,
    carrier,
    serviceLevel: serviceLevel ?? '',
    carrierName,
    serviceName: textIn(row, 'service_name') ?? serviceLevel ?? '',
  }
}

function codeIn(row: DatasetRow, field: string): string | undefined {
  const code = textIn(row, field)?.toLowerCase()
  if (code !== undefined && !codePattern.test(code)) {
    refuse(field, code, 'is not a code', 'write letters, digits, - and _, at most 40 characters')
  }
  return code
}

export const indexColumn = {
  name: 'index_code',
  required: false,
  description: `Code of the price that the table is read at; default ${defaultIndex}`,
}

export function indexIn(row: DatasetRow, catalogue: CodeLookup): string {
  const text = textIn(row, 'index_code') ?? defaultIndex
  const series = catalogue.find(text)
  if (series) return series.code
  const near = catalogue.nearest(text)
  return refuse(
    'index_code',
    text,
    'is not in the catalogue',
    near ? `did you mean ${near}?` : 'wellhead codes search WORD finds the codes',
  )
}

export const sourceColumn = {
  name: 'source',
  required: true,
  description: "Address (http or https) of the carrier's published table",
}

/** An http or https address. */
export function sourceIn(row: DatasetRow): string {
  const text = neededText(row, 'source', 'write the address of the published table', 500)
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (protocol !== 'https:' && protocol !== 'http:')
    refuse('source', text, 'is not an address', 'write one that begins with https://')
  return text
}
