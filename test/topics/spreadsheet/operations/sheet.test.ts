import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { XMLParser } from 'fast-xml-parser'
import { inert, xml } from '../../../../src/topics/spreadsheet/operations/sheet.ts'

const parser = new XMLParser({ parseTagValue: false, trimValues: false })

describe('xml: the XML of a sheet', () => {
  test('text in sheet XML survives a round trip except for characters that XML cannot represent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), text => {
        expect(parser.parse(xml('service', { message: text })).service.message).toBe(inert(text))
      }),
    )
    expect(
      parser.parse(xml('service', { message: '\u0000a\u000bb\ud800<c>&amp;' })).service.message,
    ).toBe('ab\ufffd<c>&amp;')
  })
})
