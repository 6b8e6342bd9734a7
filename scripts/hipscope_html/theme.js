const button = document.getElementById('theme');
const dark = () => (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
const name = () => { button.textContent = dark() ? 'Light' : 'Dark'; };
button.addEventListener('click', () => {
  document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
  name();
});
button.hidden = false;
name();
if (matchMedia('(max-width: 40rem)').matches) document.querySelector('.contents details').open = false;
