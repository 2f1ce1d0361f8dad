import { instant, text, textOr } from '../../../datasets/columns.ts'
import type { Column } from '../../../datasets/dataset.ts'
import {
  type DatasetRow,
  neededText,
  refuse,
  seriesNamed,
  textIn,
  wordIn,
} from '../../../datasets/fields.ts'

/** The index of surcharge tables that name none: US on-highway diesel. */
const defaultIndex = 'DIESEL_US_NATIONAL_USD'

export type CarrierMode = 'ltl' | 'parcel'
const modes: readonly CarrierMode[] = ['ltl', 'parcel']
const codePattern = /^[a-z0-9][a-z0-9_-]{0,39}$/
/** A part of paths already. */
const reserved = new Set(['parcel'])

export const service = {
  carrier: {
    required: true,
    description: 'Code of the carrier: lower-case letters, digits, - and _, at most 40',
  } as Column<string>,
  carrierName: text('Name of the carrier', 'write the name of the carrier'),
  mode: { description: 'ltl (default) or parcel' } as Column<CarrierMode>,
  /** Empty where there is one for all that a carrier carries. */
  serviceLevel: {
    description: 'Code of the service, such as ground; required for parcel, empty for ltl',
  } as Column<string>,
  serviceName: {
    ...textOr('', 'Name of the service; default: its code', 200),
    exported: "nullif(t.service_name, '')",
  },
}

/** The service that a row is about and its names. */
export function serviceIn(row: DatasetRow) {
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

/** The series whose price of the week the table is read at. */
export const indexCode: Column<string> = {
  description: `Code of the index price; default: ${defaultIndex}`,
  read: (row, name, { catalogue }) =>
    seriesNamed(textIn(row, name) ?? defaultIndex, name, catalogue).code,
}

/** The page that the table was read from. */
export const source: Column<string> = {
  required: true,
  description: "Address (http or https) of the carrier's published table",
  read(row, name) {
    const text = neededText(row, name, 'write the address of the published table', 500)
    const protocol = URL.canParse(text) ? new URL(text).protocol : ''
    if (protocol !== 'https:' && protocol !== 'http:')
      refuse(name, text, 'is not an address', 'write one that begins with https://')
    return text
  },
}

export const retrievedAt = instant('When the table was read')
