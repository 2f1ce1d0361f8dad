import { createHash } from 'node:crypto'

export interface StandInBucket {
  endpoint: string
  objects: Map<string, Uint8Array<ArrayBuffer>>
  /** Refuses everything from now on, as a storage that is out of order. */
  isDown: boolean
  /** Refuses what these keys match. */
  refuses: RegExp | undefined
  stop(): Promise<void>
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** A storage of one bucket that speaks as much of S3 as backups need, signatures unread. */
export function standInBucket(bucket: string): StandInBucket {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>()
  const parts = new Map<string, Uint8Array<ArrayBuffer>[]>()
  const state = { isDown: false, refuses: undefined as RegExp | undefined }
  const etag = (bytes: Uint8Array) => `"${createHash('md5').update(bytes).digest('hex')}"`
  const xml = (body: string) =>
    new Response(`<?xml version="1.0" encoding="UTF-8"?>${body}`, {
      headers: { 'content-type': 'application/xml' },
    })
  const list = (query: URLSearchParams) => {
    const prefix = query.get('prefix') ?? ''
    const after = query.get('start-after') ?? ''
    const keys = [...objects.keys()].filter(key => key.startsWith(prefix) && key > after).sort()
    const shown = keys.slice(0, 2)
    const rows = shown.map(
      key =>
        `<Contents><Key>${escaped(key)}</Key><LastModified>2026-11-22T00:00:00.000Z</LastModified><ETag>${etag(objects.get(key)!)}</ETag><Size>${objects.get(key)!.length}</Size></Contents>`,
    )
    return xml(
      `<ListBucketResult><Name>${bucket}</Name><Prefix>${escaped(prefix)}</Prefix><KeyCount>${shown.length}</KeyCount><MaxKeys>2</MaxKeys><IsTruncated>${keys.length > shown.length}</IsTruncated>${rows.join('')}</ListBucketResult>`,
    )
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: 2 ** 30,
    async fetch(request) {
      if (state.isDown) return new Response('', { status: 403 })
      const { pathname, searchParams } = new URL(request.url)
      const key = decodeURIComponent(pathname).slice(bucket.length + 2)
      if (key === '') return list(searchParams)
      if (state.refuses?.test(key)) return new Response('', { status: 503 })
      const bytes = new Uint8Array(await request.arrayBuffer())
      const upload = searchParams.get('uploadId') ?? ''
      if (request.method === 'POST' && searchParams.has('uploads')) {
        parts.set(key, [])
        return xml(
          `<InitiateMultipartUploadResult><Bucket>${bucket}</Bucket><Key>${escaped(key)}</Key><UploadId>${escaped(key)}</UploadId></InitiateMultipartUploadResult>`,
        )
      }
      if (request.method === 'PUT' && upload !== '') {
        parts.get(key)![Number(searchParams.get('partNumber')) - 1] = bytes
        return new Response('', { headers: { etag: etag(bytes) } })
      }
      if (request.method === 'POST' && upload !== '') {
        objects.set(key, new Uint8Array(Buffer.concat(parts.get(key)!)))
        return xml(
          `<CompleteMultipartUploadResult><Key>${escaped(key)}</Key></CompleteMultipartUploadResult>`,
        )
      }
      if (request.method === 'PUT') {
        objects.set(key, bytes)
        return new Response('', { headers: { etag: etag(bytes) } })
      }
      const object = objects.get(key)
      if (request.method === 'DELETE') {
        objects.delete(key)
        return new Response(null, { status: 204 })
      }
      if (!object) return new Response('', { status: 404 })
      const headers = { etag: etag(object), 'content-length': String(object.length) }
      return new Response(request.method === 'HEAD' ? null : object, { headers })
    },
  })
  return {
    endpoint: `http://127.0.0.1:${server.port}`,
    objects,
    get isDown() {
      return state.isDown
    },
    set isDown(value: boolean) {
      state.isDown = value
    },
    get refuses() {
      return state.refuses
    },
    set refuses(value: RegExp | undefined) {
      state.refuses = value
    },
    stop: () => server.stop(true),
  }
}
