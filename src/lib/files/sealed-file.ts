import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { privateMode } from './private-file.ts'
import { writeWhole } from './write-whole.ts'

/**
 * A file under a pass phrase: the mark, 16 bytes of salt, then pieces of a megabyte, each with its
 * tag. The nonce of a piece is its place and whether it is the last, so that none can be taken out,
 * moved or cut off.
 */
const mark = Buffer.from('WELLHEAD-SEALED-1\n')
const saltBytes = 16
const keyBytes = 32
const tagBytes = 16
const pieceBytes = 2 ** 20
const cipher = 'aes-256-gcm'

const keyOf = (phrase: string, salt: Buffer) => scryptSync(phrase.normalize('NFC'), salt, keyBytes)

function nonceOf(place: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(place, 4)
  nonce[11] = Number(isLast)
  return nonce
}

/** Reads up to `bytes` of an open file: fewer only at its end. */
function readFull(file: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  let length = 0
  for (;;) {
    const read = readSync(file, buffer, length, bytes - length, null)
    length += read
    if (read === 0 || length === bytes) return buffer.subarray(0, length)
  }
}

function withFiles(from: string, to: string, work: (source: number, target: number) => void) {
  const source = openSync(from, 'r')
  try {
    const target = openSync(to, 'w', privateMode)
    try {
      work(source, target)
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
}

/** Writes `from` to `to`, sealed under a pass phrase. */
export const sealFile = (from: string, to: string, phrase: string): void =>
  withFiles(from, to, (source, target) => {
    const salt = randomBytes(saltBytes)
    const key = keyOf(phrase, salt)
    writeWhole(target, Buffer.concat([mark, salt]))
    let piece = readFull(source, pieceBytes)
    for (let place = 0; ; place += 1) {
      const next = piece.length < pieceBytes ? Buffer.alloc(0) : readFull(source, pieceBytes)
      const isLast = next.length === 0
      const sealing = createCipheriv(cipher, key, nonceOf(place, isLast))
      writeWhole(
        target,
        Buffer.concat([sealing.update(piece), sealing.final(), sealing.getAuthTag()]),
      )
      if (isLast) return
      piece = next
    }
  })

/**
 * Writes what `from` holds to `to`. Throws when the phrase is another, or the file was changed;
 * `name` is how its errors call the file.
 */
export const openSealedFile = (from: string, to: string, phrase: string, name = from): void =>
  withFiles(from, to, (source, target) => {
    const head = readFull(source, mark.length + saltBytes)
    if (!head.subarray(0, mark.length).equals(mark)) throw new Error(`${name} is not sealed`)
    const key = keyOf(phrase, head.subarray(mark.length))
    let piece = readFull(source, pieceBytes + tagBytes)
    for (let place = 0; ; place += 1) {
      const next = readFull(source, pieceBytes + tagBytes)
      const isLast = next.length === 0
      const opening = createDecipheriv(cipher, key, nonceOf(place, isLast))
      let text: Buffer
      try {
        opening.setAuthTag(piece.subarray(-tagBytes))
        text = opening.update(piece.subarray(0, -tagBytes))
        opening.final()
      } catch {
        throw new Error(`${name} does not open: backups.key is another, or the file is damaged`)
      }
      writeWhole(target, text)
      if (isLast) return
      piece = next
    }
  })
