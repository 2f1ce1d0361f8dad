/** A receiver that reads each request and responds `ok`. */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  development: false,
  async fetch(request) {
    await request.text()
    return new Response('ok')
  },
})
console.log(server.port)
