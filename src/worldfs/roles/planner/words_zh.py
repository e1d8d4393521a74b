"""Chinese as people type it: traditional signs and common slips put into the signs of the lexicon."""

from __future__ import annotations

_PAIRS = (
    "蘋苹 進进 籃篮 裡里 裏里 紅红 綠绿 藍蓝 黃黄 塊块 個个 東东 兩两 們们 夾夹 開开 關关 罐罐 顏颜 類类 邊边 從从 幫帮 請请 "
    "別别 沒没 無无 將将 與与 還还 這这 嗎吗 麼么 為为 誰谁 幾几 哪哪 裝装 動动 離离 遠远 間间 後后 過过 來来 對对 應应 該该 "
    "當当 時时 說说 給给 讓让 識识 認认 見见 現现 樣样 種种 種种 圓圆 圍围 顆颗 隻只 條条 張张 總总 擺摆 疊叠 層层 頂顶 "
    "腦脑 機机 點点 轉转 儘尽 盡尽 並并 隨随 單单 雙双 壓压 舉举 撿捡 揀拣 擱搁 臺台 檯台 會会 嚴严 準准 許许 須须 須须 "
    "勞劳 駕驾 煩烦 謝谢 櫃柜 鍵键 銀银 灰灰 棕棕 積积 磚砖 盤盘 馬马 橘橘 檸柠 檬檬 書书 處处 裝装 狀状 態态 撤撤 銷销 復复 "
    "揮挥 擡抬 抬抬 釐厘 毫毫 碼码 齊齐 淨净 乾干 亂乱 順顺 歸归 組组 按按 據据 規规 餐餐 廳厅 杯杯 夠够 難难 讀读 寫写 "
    "傳传 遞递 換换 僅仅 餘余 剩剩 輕轻 長长 寬宽 窄窄 矮矮 側侧 麵面 屜屉 啟启 閉闭 鬆松 緊紧 園园 國国 學学 實实 體体 "
    "貼贴 靠靠 觸触 號号 筆笔 葉叶 氣气 燈灯 門门 問问 聽听 寶宝 貓猫 雞鸡 魚鱼 鳥鸟 飛飞 車车 輪轮 頭头 臉脸 線线 紙纸"
)
_TABLE = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
# Slips of the ear, which no other word of the lexicon resembles.
SLIPS = {
    "蓝子": "篮子", "兰子": "篮子", "平果": "苹果", "苹过": "苹果", "卓子": "桌子", "桌孑": "桌子", "方快": "方块",
    "灌子": "罐子", "贯子": "罐子", "收十": "收拾", "收拾下": "收拾一下", "香焦": "香蕉", "拿启": "拿起", "拿其": "拿起",
}  # fmt: skip


def simplified(text: str) -> str:
    """Traditional signs in their simplified form."""
    return text.translate(_TABLE)


def corrected(text: str) -> tuple[str, list[str]]:
    """The text with common slips put right, and a line for each."""
    notes = []
    for wrong, right in SLIPS.items():
        if wrong in text:
            text = text.replace(wrong, right)
            if not right.startswith(wrong):
                notes.append(f"“{wrong}”读作“{right}”")
    return text, notes
